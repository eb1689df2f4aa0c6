using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Redis.Running;

/// <summary>
/// Names the encoding that Redis 7.0 would choose for a value, as OBJECT ENCODING answers it. It says nothing about the
/// document's form.
/// </summary>
internal static class RedisEncoding
{
    private const int EmbeddedBytes = 44;
    private const int MaxPackedEntries = 128;
    private const int MaxPackedBytes = 64;
    private const int MaxIntegers = 512;

    /// <summary>Returns the name.</summary>
    public static ReadOnlySpan<byte> Of(scoped in DocumentView document, PooledBytes scratch)
    {
        switch (RedisBody.TypeOf(document))
        {
            case RedisType.String:
                RedisBody.TryReadString(document, scratch, out var value);
                return RedisNumber.TryRead(value, out _) ? "int"u8
                    : value.Length <= EmbeddedBytes ? "embstr"u8
                    : "raw"u8;
            case RedisType.Hash:
                return IsPacked(document.Body, scratch) ? "listpack"u8 : "hashtable"u8;
            case RedisType.Set:
                return IsIntegers(document.Body, scratch) ? "intset"u8 : "hashtable"u8;
            case RedisType.List:
                return "quicklist"u8;
            default:
                return "raw"u8;
        }
    }

    private static bool IsPacked(ReadOnlySpan<byte> body, PooledBytes scratch)
    {
        int at = 0;
        for (int count = 0; StoredJson.TryReadMember(body, ref at, out var name, out int start); count++)
        {
            if (
                count == MaxPackedEntries
                || name.Length > MaxPackedBytes
                || RedisBody.ReadElement(body[start..at], scratch).Length > MaxPackedBytes
            )
            {
                return false;
            }
        }

        return true;
    }

    private static bool IsIntegers(ReadOnlySpan<byte> body, PooledBytes scratch)
    {
        int at = RedisBody.ArrayAt(body) + 1;
        for (int count = 0; body[at] != (byte)']'; count++)
        {
            at += body[at] == (byte)',' ? 1 : 0;
            int end = StoredJson.SkipValue(body, at);
            if (count == MaxIntegers || !RedisNumber.TryRead(RedisBody.ReadElement(body[at..end], scratch), out _))
            {
                return false;
            }

            at = end;
        }

        return true;
    }
}
