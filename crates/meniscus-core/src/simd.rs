//! Vector instructions of the machine at hand.

/// Runs `f` compiled for the widest vector instructions that this machine has. What `f` calls must be
/// inlined into it to profit. No result depends on which those are: nothing is fused or reordered.
#[inline(always)]
pub fn simd<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}
