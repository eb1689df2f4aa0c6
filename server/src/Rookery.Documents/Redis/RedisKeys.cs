using Rookery.Documents.Commands;

namespace Rookery.Documents.Redis;

/// <summary>The keys in a <see cref="CommandKind.Redis"/>: those of guards, then those of the commands.</summary>
internal ref struct RedisKeys
{
    private const int MaxIdleSlices = 1024;

    [ThreadStatic]
    private static RedisSlice[]? _idle;

    private readonly Span<byte> _lowerId;
    private RedisCommandReader _reader;
    private RedisSlice[] _slices;
    private RedisArguments _arguments;
    private int _guards;
    private int _keys;
    private int _next;
    private int _length;

    /// <summary>Begins before the first key.</summary>
    /// <param name="body">The command after its header.</param>
    /// <param name="lowerId">Receives the ids: <see cref="RedisKey.MaxIdBytes"/> bytes.</param>
    public RedisKeys(ReadOnlySpan<byte> body, Span<byte> lowerId)
    {
        _lowerId = lowerId;
        _slices = _idle ?? new RedisSlice[8];
        _idle = null;
        _reader = new RedisCommandReader(body);
        _guards = _reader.Guards;
        IsOnly = _guards == 0;
        Command = RedisCommandTable.Find(RedisOpcode.Get)!; // guards read
    }

    /// <summary>The command of the key.</summary>
    public RedisCommandInfo Command { get; private set; }

    /// <summary>Whether the key is the first and the last one.</summary>
    public bool IsOnly { get; private set; }

    /// <summary>The lower-cased id of the key.</summary>
    public readonly ReadOnlySpan<byte> LowerId => _lowerId[.._length];

    /// <summary>Returns whether a command may need more space.</summary>
    public static bool Grow(ReadOnlySpan<byte> body)
    {
        var reader = new RedisCommandReader(body);
        for (int i = 0; i < reader.Guards; i++)
        {
            reader.ReadGuard(out _);
        }

        var slices = new RedisSlice[8];
        while (reader.TryReadCommand(ref slices, out var opcode, out _))
        {
            if (
                RedisCommandTable.Find(opcode) is { } command
                && (command.Flags & RedisCommandTraits.Grows) != RedisCommandTraits.None
            )
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Moves to the next key whose id is not too long; false at the end.</summary>
    public bool MoveNext()
    {
        while (true)
        {
            if (_guards > 0)
            {
                _guards--;
                if (TrySet(_reader.ReadGuard(out _)))
                {
                    return true;
                }
            }
            else if (_next < _keys)
            {
                var key = _arguments[Command.FirstKey - 1 + (_next++ * Command.KeyStep)];
                if (TrySet(key))
                {
                    return true;
                }
            }
            else if (!TryReadCommand())
            {
                return false;
            }
        }
    }

    private bool TryReadCommand()
    {
        var slices = _slices;
        if (!_reader.TryReadCommand(ref slices, out var opcode, out _arguments))
        {
            _idle = slices.Length > MaxIdleSlices ? null : slices;
            return false;
        }

        _slices = slices;

        var command = RedisCommandTable.Find(opcode);
        bool isKnown = command is not null && command.Accepts(_arguments.Count);
        _next = 0;
        _keys = isKnown ? command!.CountKeys(_arguments.Count) : 0;
        Command = command ?? Command;
        IsOnly = IsOnly && _length == 0 && _keys == 1 && _reader.IsAtEnd;
        return true;
    }

    private bool TrySet(ReadOnlySpan<byte> key)
    {
        if (!RedisKey.TryWriteId(key, _lowerId, out _length))
        {
            return false;
        }

        RedisKey.WriteLowerId(_lowerId[.._length], _lowerId);
        return true;
    }
}
