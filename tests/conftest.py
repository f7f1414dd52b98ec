"""What all tests share: property tests have no deadline, since no test may depend on the machine's speed."""

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
