using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>The BLAKE2b hash of a content, 32 bytes (RFC 7693).</summary>
/// <param name="High">The first 16 bytes, big-endian.</param>
/// <param name="Low">The last 16 bytes, big-endian.</param>
public readonly record struct ContentHash(UInt128 High, UInt128 Low)
{
    /// <summary>Length in bytes.</summary>
    public const int Length = Blake2b.HashBytes;

    private const int HalfBytes = Length / 2;

    /// <summary>Returns the hash as lower-case hexadecimal digits, as in the names of files.</summary>
    public string ToHex()
    {
        Span<byte> bytes = stackalloc byte[Length];
        Write(bytes);
        return Convert.ToHexStringLower(bytes);
    }

    /// <summary>Returns the hash in base64, as RavenDB's clients receive it.</summary>
    public override string ToString()
    {
        Span<byte> bytes = stackalloc byte[Length];
        Write(bytes);
        return Convert.ToBase64String(bytes);
    }

    /// <summary>Reads the first <see cref="Length"/> bytes.</summary>
    public static ContentHash Read(ReadOnlySpan<byte> source) =>
        new(BinaryPrimitives.ReadUInt128BigEndian(source), BinaryPrimitives.ReadUInt128BigEndian(source[HalfBytes..]));

    /// <summary>Parses the name of a file; false if it is no hash.</summary>
    internal static bool TryParseHex(string text, out ContentHash hash)
    {
        hash = default;
        Span<byte> bytes = stackalloc byte[Length];
        if (
            text.Length != 2 * Length
            || Convert.FromHexString(text, bytes, out _, out int written) != System.Buffers.OperationStatus.Done
            || written != Length
        )
        {
            return false;
        }

        hash = Read(bytes);
        return string.Equals(hash.ToHex(), text, StringComparison.Ordinal);
    }

    /// <summary>Writes the bytes and returns their number.</summary>
    public int Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt128BigEndian(destination, High);
        BinaryPrimitives.WriteUInt128BigEndian(destination[HalfBytes..], Low);
        return Length;
    }

    /// <summary>Writes the base64 form and returns its length, 44 bytes.</summary>
    internal int WriteBase64(Span<byte> destination)
    {
        Span<byte> bytes = stackalloc byte[Length];
        Write(bytes);
        System.Buffers.Text.Base64.EncodeToUtf8(bytes, destination, out _, out int written);
        return written;
    }
}
