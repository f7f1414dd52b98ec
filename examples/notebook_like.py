# %% [markdown]
# # Where is the beat?
# A small GRU reads the frames of a spectrogram and says for each how likely a beat is.

# %%
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)
torch.use_deterministic_algorithms(True)


# %%
class Songs(Dataset):
    """Frames and beats of each song, with fresh noise on the frames."""

    def __init__(self, frames, beats):
        self.frames, self.beats = frames, beats
        self.rng = np.random.default_rng(7)

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        frames = self.frames[index]
        noise = self.rng.normal(0, 0.05, frames.shape)
        return (frames + noise).astype("float32"), self.beats[index]


made = np.random.default_rng(1)
songs = Songs(made.normal(size=(40, 200, 32)), made.integers(0, 2, (40, 200)).astype("float32"))
loader = DataLoader(songs, batch_size=8, shuffle=True, num_workers=2)

# %%
gru = nn.GRU(32, 48, num_layers=2, dropout=0.25, batch_first=True)
head = nn.Linear(48, 1)
optimizer = torch.optim.Adam([*gru.parameters(), *head.parameters()], lr=1e-3)

for epoch in range(3):
    for frames, beats in loader:
        states, _ = gru(frames)
        loss = nn.functional.binary_cross_entropy_with_logits(head(states)[..., 0], beats)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

# %%
gru.eval
with torch.no_grad():
    states, _ = gru(torch.from_numpy(songs.frames[:1]).float())
    print(torch.sigmoid(head(states))[0, :8, 0])
