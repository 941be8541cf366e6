//! Shared helpers of the validation tests.
