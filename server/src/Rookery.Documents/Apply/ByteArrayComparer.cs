using System.Numerics;
using System.Runtime.InteropServices;

namespace Rookery.Documents.Apply;

/// <summary>Compares byte strings by content, and lets spans be looked up without copying them.</summary>
internal sealed class ByteArrayComparer
    : IEqualityComparer<byte[]>,
        IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
{
    public static ByteArrayComparer Instance { get; } = new();

    public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

    public int GetHashCode(byte[] obj) => GetHashCode(obj.AsSpan());

    public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

    public int GetHashCode(ReadOnlySpan<byte> alternate)
    {
        uint hash = (uint)alternate.Length;
        var words = MemoryMarshal.Cast<byte, uint>(alternate);
        foreach (uint word in words)
        {
            hash = BitOperations.Crc32C(hash, word);
        }

        foreach (byte value in alternate[(words.Length * sizeof(uint))..])
        {
            hash = BitOperations.Crc32C(hash, value);
        }

        return (int)hash;
    }

    public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
}
