using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Encodes reduce keys as bytes. Equal keys have equal bytes. Numbers are compared by value, texts with case, and
/// objects by their members that are not null, in the order of the text.
/// </summary>
internal static class ReduceKey
{
    /// <summary>Maximum bytes of a key, because the index uses the key as an id.</summary>
    public const int MaxBytes = TermKey.MaxBytes;

    [ThreadStatic]
    private static byte[]? _room;

    /// <summary>Returns the key of a value.</summary>
    /// <param name="json">The value as JSON without whitespace between tokens.</param>
    /// <returns>The key, valid until the next call on this thread.</returns>
    public static ReadOnlySpan<byte> Of(ReadOnlySpan<byte> json)
    {
        byte[] key = _room ??= new byte[MaxBytes];
        if (json[0] != (byte)'{')
        {
            return key.AsSpan(0, TermKey.Write(json, isExact: true, key));
        }

        // Each part is preceded by its length, so different lists of parts have different bytes.
        var parts = new PooledBytes();
        int at = 1;
        while (json[at] != (byte)'}')
        {
            at += json[at] == (byte)',' ? 1 : 0;
            int nameEnd = StoredJson.SkipValue(json, at);
            int valueEnd = StoredJson.SkipValue(json, nameEnd + 1);
            if (json[nameEnd + 1] != (byte)'n')
            {
                Append(parts, json[at..nameEnd]);
                Append(parts, json[(nameEnd + 1)..valueEnd]);
            }

            at = valueEnd;
        }

        int length = WriteTruncated(parts.Written, key);
        parts.Release();
        return key.AsSpan(0, length);
    }

    private static void Append(PooledBytes parts, ReadOnlySpan<byte> json)
    {
        var part = parts.Reserve(sizeof(ushort) + TermKey.MaxBytes);
        int length = TermKey.Write(json, isExact: true, part[sizeof(ushort)..]);
        BinaryPrimitives.WriteUInt16BigEndian(part, (ushort)length);
        parts.Advance(sizeof(ushort) + length);
    }

    /// <summary>Writes the parts. If they are too long, writes a prefix and a hash of all.</summary>
    private static int WriteTruncated(ReadOnlySpan<byte> parts, Span<byte> key)
    {
        // No other key begins with this byte, see TermKey.
        const byte ObjectByte = 0x60;
        key[0] = ObjectByte;
        if (parts.Length < MaxBytes - SHA256.HashSizeInBytes)
        {
            parts.CopyTo(key[1..]);
            return 1 + parts.Length;
        }

        int kept = MaxBytes - 1 - SHA256.HashSizeInBytes;
        parts[..kept].CopyTo(key[1..]);
        SHA256.HashData(parts, key[(1 + kept)..]);
        return MaxBytes;
    }
}
