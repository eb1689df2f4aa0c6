using System.Buffers;
using System.Buffers.Text;
using System.Runtime.CompilerServices;
using Rookery.Documents.Redis;
using Rookery.Platform;

namespace Rookery.Redis.Protocol;

/// <summary>
/// Splits the bytes of one client into commands (RESP, https://redis.io/docs/latest/develop/reference/protocol-spec/;
/// and inline commands). The received bytes stay in one piece of memory, so an argument is a span. Each byte is looked
/// at once, however the bytes arrive. A command over the bound is skipped without being stored, and the
/// connection continues after it.
/// </summary>
/// <param name="limits">Bounds of commands.</param>
/// <param name="memory">Share from which memory over <see cref="FreeBytes"/> is reserved.</param>
internal sealed class RequestParser(RequestLimits limits, MemoryShare memory) : IDisposable
{
    /// <summary>Bytes that a connection may store without a reservation.</summary>
    public const int FreeBytes = MemoryShare.BytesWithoutReservation + RequestLimits.MaxLineBytes;

    // A line has at most half as many arguments as bytes.
    private const int FreeSlices = RequestLimits.MaxLineBytes / 2;
    private const int FirstBytes = 4 << 10;
    private const int NoLine = -1;

    private PooledMemory _memory;
    private long _reservedBytes;
    private long _reservedForSlices;
    private int _start; // of the command
    private int _position; // the end of the parsed bytes
    private int _scanned; // the end of the bytes that were searched for the end of a line
    private int _end;
    private RedisSlice[] _slices = []; // places of the name and the arguments, from the command's start
    private State _state;
    private int _remaining; // arguments of the command that are not parsed
    private int _bulk; // length of the argument that is arriving
    private long _discard; // bytes of a skipped argument that are still to come
    private RequestStatus _skip; // why the command is skipped; Command if it is not

    private enum State : byte
    {
        Ended,
        Start,
        Length,
        Bulk,
    }

    /// <summary>Whether the client has authenticated. Until then, less is accepted from it.</summary>
    public bool IsTrusted { get; set; }

    /// <summary>Number of arguments of the command, with its name.</summary>
    public int Count { get; private set; }

    /// <summary>What is wrong with the bytes, after <see cref="RequestStatus.Broken"/>.</summary>
    public string Problem { get; private set; } = string.Empty;

    /// <summary>The name of the command; valid until the next call of another method.</summary>
    public ReadOnlySpan<byte> Name => _memory.Span.Slice(_start + _slices[0].Start, _slices[0].Length);

    /// <summary>The arguments of the command; valid until the next call of another method.</summary>
    public RedisArguments Arguments => new(_memory.Span[_start.._position], _slices.AsSpan(1, Count - 1));

    /// <summary>Whether part of a command has arrived.</summary>
    public bool IsInsideCommand => _state is not (State.Ended or State.Start) || _end > _position;

    /// <summary>Bytes of the command so far.</summary>
    public int CommandBytes => _position - _start;

    /// <summary>Stores received bytes.</summary>
    /// <exception cref="OutOfMemoryException">The system has no memory.</exception>
    public void Append(in ReadOnlySequence<byte> received)
    {
        int count = checked((int)received.Length);
        if (!TryMakeRoom(count))
        {
            // Without memory the command is skipped, which frees what is stored of it.
            Skip(RequestStatus.OutOfMemory);
            Discard();
            Invariant.Holds(TryMakeRoom(count), "a connection's first bytes need no reservation");
        }

        received.CopyTo(_memory.Span[_end..]);
        _end += count;
    }

    /// <summary>Finds the next command in the stored bytes.</summary>
    public RequestStatus Read()
    {
        if (_state == State.Ended)
        {
            Begin();
        }

        while (true)
        {
            if (!Discard())
            {
                return RequestStatus.Incomplete;
            }

            if (_state is State.Length && _remaining == 0)
            {
                _state = State.Ended;
                return _skip;
            }

            var status = _state switch
            {
                State.Start => ReadStart(),
                State.Length => ReadLength(),
                _ => ReadBulk(),
            };
            if (status is { } found)
            {
                return found;
            }
        }
    }

    /// <summary>Returns the memory to its pool if no command needs it now.</summary>
    public void Trim()
    {
        if (_state == State.Ended)
        {
            Begin();
        }

        if (_start == _end)
        {
            ReturnMemory();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => ReturnMemory();

    private void Begin()
    {
        _state = State.Start;
        _skip = RequestStatus.Command;
        _start = _scanned = _position;
        Count = 0;
    }

    private RequestStatus? ReadStart()
    {
        if (_position == _end)
        {
            return RequestStatus.Incomplete;
        }

        bool isInline = _memory.Span[_position] != (byte)'*';
        int length = FindLine();
        if (length == NoLine)
        {
            return IsLineTooLong()
                ? Break(isInline ? "too big inline request" : "too big mbulk count string")
                : RequestStatus.Incomplete;
        }

        return isInline ? ReadInline(length) : ReadCount(length);
    }

    private RequestStatus? ReadCount(int length)
    {
        if (
            !TryParse(_memory.Span.Slice(_position + 1, length - 1), out long count)
            || count > RequestLimits.MaxArguments
        )
        {
            return Break("invalid multibulk length");
        }

        if (!IsTrusted && count > RequestLimits.MaxUnknownArguments)
        {
            return Break("unauthenticated multibulk length");
        }

        PassLine(length);
        if (count <= 0)
        {
            // An empty command has no answer.
            Begin();
            return null;
        }

        _remaining = (int)count;
        _state = State.Length;
        return null;
    }

    private RequestStatus? ReadInline(int length)
    {
        var line = _memory.Span.Slice(_position, length);
        int begin = _position - _start;
        if (!InlineArguments.TrySplit(line, (from, count) => TryAddArgument(begin + from, count)))
        {
            return Break("unbalanced quotes in request");
        }

        PassLine(length);
        if (Count == 0)
        {
            Begin();
            return null;
        }

        _state = State.Ended;
        return RequestStatus.Command;
    }

    private RequestStatus? ReadLength()
    {
        if (_position == _end)
        {
            return RequestStatus.Incomplete;
        }

        if (_memory.Span[_position] != (byte)'$')
        {
            return Break($"expected '$', got '{Shown(_memory.Span[_position])}'");
        }

        int lineLength = FindLine();
        if (lineLength == NoLine)
        {
            return IsLineTooLong() ? Break("too big bulk count string") : RequestStatus.Incomplete;
        }

        if (
            !TryParse(_memory.Span.Slice(_position + 1, lineLength - 1), out long length)
            || length is < 0 or > RequestLimits.MaxBulkBytes
        )
        {
            return Break("invalid bulk length");
        }

        if (!IsTrusted && length > RequestLimits.MaxUnknownBulkBytes)
        {
            return Break("unauthenticated bulk length");
        }

        PassLine(lineLength);
        if (
            _skip == RequestStatus.Command
            && CommandBytes + length + ((long)Count * Unsafe.SizeOf<RedisSlice>()) > limits.MaxCommandBytes
        )
        {
            Skip(RequestStatus.TooLarge);
        }

        if (_skip != RequestStatus.Command)
        {
            _remaining--;
            _discard = length + 2;
            return null;
        }

        _bulk = (int)length;
        _state = State.Bulk;
        return null;
    }

    private RequestStatus? ReadBulk()
    {
        if (_end - _position < _bulk + 2)
        {
            return RequestStatus.Incomplete;
        }

        if (!_memory.Span.Slice(_position + _bulk, 2).SequenceEqual("\r\n"u8))
        {
            return Break("expected CRLF after an argument");
        }

        if (!TryAddArgument(_position - _start, _bulk))
        {
            Skip(RequestStatus.OutOfMemory);
            return null;
        }

        _position = _scanned = _position + _bulk + 2;
        _remaining--;
        _state = State.Length;
        return null;
    }

    private RequestStatus Break(string problem)
    {
        Problem = problem;
        return RequestStatus.Broken;
    }

    // Returns the length of the line at the position, without its end; NoLine if the end has not arrived.
    private int FindLine()
    {
        int end = _memory.Span[_scanned.._end].IndexOf((byte)'\n');
        if (end < 0)
        {
            _scanned = _end;
            return NoLine;
        }

        _scanned += end;
        int length = _scanned - _position;
        return length > RequestLimits.MaxLineBytes ? NoLine
            : length > 0 && _memory.Span[_scanned - 1] == (byte)'\r' ? length - 1
            : length;
    }

    private bool IsLineTooLong() => _scanned - _position > RequestLimits.MaxLineBytes;

    private void PassLine(int length)
    {
        int end = _position + length;
        _position = _scanned = end + (_memory.Span[end] == (byte)'\r' ? 2 : 1);
        if (_skip != RequestStatus.Command)
        {
            _start = _position;
        }
    }

    // Passes bytes of a skipped argument; returns false if more have to arrive.
    private bool Discard()
    {
        if (_discard > 0)
        {
            int passed = (int)Math.Min(_discard, _end - _position);
            _position += passed;
            _discard -= passed;
            _start = _scanned = _position;
        }

        return _discard == 0;
    }

    private void Skip(RequestStatus reason)
    {
        if (_state == State.Bulk)
        {
            _discard = _bulk + 2L;
            _remaining--;
            _state = State.Length;
        }

        _skip = reason;
        Count = 0;
        _start = _position;
    }

    // Returns false if there is no memory for the places of so many arguments.
    private bool TryAddArgument(int begin, int length)
    {
        if (_slices.Length == Count)
        {
            int count = Math.Max(16, 2 * Count);
            if (count > FreeSlices && !TryReserve(ref _reservedForSlices, count * Unsafe.SizeOf<RedisSlice>()))
            {
                return false;
            }

            var longer = ArrayPool<RedisSlice>.Shared.Rent(count);
            _slices.AsSpan(0, Count).CopyTo(longer);
            ReturnSlices();
            _slices = longer;
        }

        _slices[Count++] = new RedisSlice(begin, length);
        return true;
    }

    private bool TryMakeRoom(int count)
    {
        if (_state == State.Ended)
        {
            Begin();
        }

        if (_start > 0 && (_memory.Length - _end < count || _start == _end))
        {
            _memory.Span[_start.._end].CopyTo(_memory.Span);
            _end -= _start;
            _position -= _start;
            _scanned -= _start;
            _start = 0;
        }

        if (_memory.Length - _end >= count)
        {
            return true;
        }

        int bytes = Math.Max(FirstBytes, Math.Max(_end + count, _end + (_end / 2)));
        if (bytes > FreeBytes && !TryReserve(ref _reservedBytes, bytes))
        {
            return false;
        }

        _memory.Grow(_end, bytes);
        if (_memory.Length > Math.Max(FreeBytes, _reservedBytes))
        {
            // The pool's memory may be larger than asked for.
            memory.Reserve(_memory.Length - _reservedBytes);
            _reservedBytes = _memory.Length;
        }

        return true;
    }

    private bool TryReserve(ref long reserved, long bytes)
    {
        if (bytes > reserved)
        {
            if (!memory.TryReserveFromCaches(bytes - reserved))
            {
                return false;
            }

            reserved = bytes;
        }

        return true;
    }

    private void ReturnMemory()
    {
        _memory.Return();
        _start = _position = _scanned = _end = 0;
        ReturnSlices();
        memory.Release(_reservedBytes + _reservedForSlices);
        _reservedBytes = _reservedForSlices = 0;
    }

    private void ReturnSlices()
    {
        if (_slices.Length > 0)
        {
            ArrayPool<RedisSlice>.Shared.Return(_slices);
            _slices = [];
        }
    }

    private static bool TryParse(ReadOnlySpan<byte> digits, out long value) =>
        Utf8Parser.TryParse(digits, out value, out int length) && length == digits.Length && digits[0] != (byte)'+';

    private static char Shown(byte value) => value is >= 0x20 and < 0x7F ? (char)value : '?';
}
