using Rookery.Documents.Redis;

namespace Rookery.Redis.Connections;

/// <summary>A command that is executed later, with a copy of its arguments.</summary>
internal sealed class StoredCommand
{
    private readonly byte[] _bytes;
    private readonly RedisSlice[] _slices;

    public StoredCommand(RedisCommandInfo info, RedisArguments arguments)
    {
        Info = info;
        _slices = new RedisSlice[arguments.Count];
        _bytes = new byte[LengthOf(arguments)];
        int length = 0;
        for (int i = 0; i < _slices.Length; i++)
        {
            arguments[i].CopyTo(_bytes.AsSpan(length));
            _slices[i] = new RedisSlice(length, arguments[i].Length);
            length += arguments[i].Length;
        }
    }

    public RedisCommandInfo Info { get; }

    public RedisArguments Arguments => new(_bytes, _slices);

    /// <summary>Approximate memory of the command in bytes.</summary>
    public static int CostOf(RedisArguments arguments) => 128 + (8 * arguments.Count) + LengthOf(arguments);

    private static int LengthOf(RedisArguments arguments)
    {
        int length = 0;
        for (int i = 0; i < arguments.Count; i++)
        {
            length += arguments[i].Length;
        }

        return length;
    }
}
