using Rookery.Documents.Json;

namespace Rookery.Documents.Patching;

/// <summary>Applies patches to stored bytes. Deterministic: no clock, no randomness, no culture. One thread at a time.</summary>
public sealed class PatchEvaluator : IDisposable
{
    /// <summary>An evaluator with its own buffers.</summary>
    public PatchEvaluator() => throw new NotSupportedException();

    /// <summary>The new content (see <see cref="StoredDocument"/>) after Created or Patched; valid until the next call.</summary>
    public ReadOnlySpan<byte> Content => throw new NotSupportedException();

    /// <summary>The collection inside <see cref="Content"/>.</summary>
    public ReadOnlySpan<byte> Collection => throw new NotSupportedException();

    /// <summary>The new expiry, UTC ticks; 0 = never.</summary>
    public long ExpiresAtTicks { get; }

    /// <summary>Why the patch failed, after Failed.</summary>
    public string? Failure { get; }

    /// <summary>Applies a patch to a document.</summary>
    public PatchStatus Apply(in PatchProgram patch, in DocumentView document) => throw new NotSupportedException();

    /// <summary>Applies a patch where there is no document.</summary>
    public PatchStatus ApplyToMissing(in PatchProgram patch) => throw new NotSupportedException();

    /// <summary>Gives the buffers back.</summary>
    public void Dispose() => throw new NotSupportedException();
}
