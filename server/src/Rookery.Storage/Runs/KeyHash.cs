namespace Rookery.Storage;

/// <summary>The hash of a key that Bloom filters use: computed once per lookup, asked of every run. Part of the run format.</summary>
internal static class KeyHash
{
    /// <summary>64 well-mixed bits of <paramref name="key"/>; the same on every processor and in every version.</summary>
    public static ulong Of(ReadOnlySpan<byte> key) => throw new NotSupportedException();
}
