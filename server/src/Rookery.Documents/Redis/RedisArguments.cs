namespace Rookery.Documents.Redis;

/// <summary>The place of an argument in a buffer.</summary>
/// <param name="Start">Offset of its first byte.</param>
/// <param name="Length">Its length in bytes.</param>
public readonly record struct RedisSlice(int Start, int Length);

/// <summary>The arguments of a command of Redis, without its name. Valid as long as the buffer.</summary>
/// <param name="buffer">The bytes that contain the arguments.</param>
/// <param name="slices">The place of each argument.</param>
public readonly ref struct RedisArguments(ReadOnlySpan<byte> buffer, ReadOnlySpan<RedisSlice> slices)
{
    private readonly ReadOnlySpan<byte> _buffer = buffer;
    private readonly ReadOnlySpan<RedisSlice> _slices = slices;

    /// <summary>Number of arguments.</summary>
    public int Count => _slices.Length;

    /// <summary>Returns an argument, counted from 0.</summary>
    public ReadOnlySpan<byte> this[int index] => _buffer.Slice(_slices[index].Start, _slices[index].Length);
}
