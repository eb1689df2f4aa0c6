using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// The bytes of what rows are grouped by. Equal values are equal bytes: numbers however they are written, texts with
/// their case, and of objects the members that are not null, in the order of the text.
/// </summary>
internal static class ReduceKey
{
    /// <summary>Bytes of a key at most, which is what an index takes as an id.</summary>
    public const int MaxBytes = TermKey.MaxBytes;

    [ThreadStatic]
    private static byte[]? _room;

    /// <summary>The key of a value.</summary>
    /// <param name="json">The value: JSON without whitespace between its tokens.</param>
    /// <returns>The key, until the next call on this thread.</returns>
    public static ReadOnlySpan<byte> Of(ReadOnlySpan<byte> json)
    {
        byte[] key = _room ??= new byte[MaxBytes];
        if (json[0] != (byte)'{')
        {
            return key.AsSpan(0, TermKey.Write(json, isExact: true, key));
        }

        // Each part is led by its length, so that no two rows of parts are the same bytes.
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

        int length = WriteCut(parts.Written, key);
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

    /// <summary>Of long keys the beginning and a hash of all.</summary>
    private static int WriteCut(ReadOnlySpan<byte> parts, Span<byte> key)
    {
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
