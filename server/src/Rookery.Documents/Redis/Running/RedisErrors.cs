namespace Rookery.Documents.Redis.Running;

/// <summary>Sentences of errors, as Redis 7.0 writes them. Programs compare them.</summary>
internal static class RedisErrors
{
    public static ReadOnlySpan<byte> WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value"u8;

    public static ReadOnlySpan<byte> Syntax => "ERR syntax error"u8;

    public static ReadOnlySpan<byte> NotInteger => "ERR value is not an integer or out of range"u8;

    public static ReadOnlySpan<byte> NotFloat => "ERR value is not a valid float"u8;

    public static ReadOnlySpan<byte> OutOfRange => "ERR value is out of range"u8;

    public static ReadOnlySpan<byte> OutOfRangeOfCounts =>
        "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"u8;

    public static ReadOnlySpan<byte> NotPositive => "ERR value is out of range, must be positive"u8;

    public static ReadOnlySpan<byte> Overflow => "ERR increment or decrement would overflow"u8;

    public static ReadOnlySpan<byte> NoSuchKey => "ERR no such key"u8;

    public static ReadOnlySpan<byte> IndexOutOfRange => "ERR index out of range"u8;

    public static ReadOnlySpan<byte> NotFinite => "ERR increment would produce NaN or Infinity"u8;

    public static ReadOnlySpan<byte> TooLong => "ERR string exceeds maximum allowed size (proto-max-bulk-len)"u8;

    public static ReadOnlySpan<byte> InvalidCursor => "ERR invalid cursor"u8;

    /// <summary>The answer to OBJECT FREQ of a server that evicts no keys.</summary>
    public static ReadOnlySpan<byte> NoFrequency =>
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching "u8
        + "between policies at runtime LRU and LFU data will take some time to adjust."u8;
}
