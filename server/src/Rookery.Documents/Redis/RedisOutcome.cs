using System.Buffers.Binary;
using Rookery.Documents.Consensus;

namespace Rookery.Documents.Redis;

/// <summary>The replies to the commands of one <see cref="RedisCommandWriter"/>, in RESP3.</summary>
public readonly ref struct RedisOutcome
{
    internal const int HeadBytes = 1;
    internal const byte Aborted = 1;

    private readonly ReadOnlySpan<byte> _replies;

    /// <summary>Reads the outcome of a command that was not refused.</summary>
    /// <param name="outcome">The outcome. Pass it to <see cref="Release"/> after the last use.</param>
    public RedisOutcome(in CommandOutcome outcome)
    {
        var document = outcome[0].Document ?? throw new ArgumentException("The outcome has no replies.");
        var bytes = document.Written.Span;
        IsAborted = bytes[0] == Aborted;
        _replies = bytes[HeadBytes..];
    }

    /// <summary>Whether a guard did not hold, so that no command was carried out and there is no reply.</summary>
    public bool IsAborted { get; }

    /// <summary>Returns the memory of the replies. Call it once for each outcome, also if no reply was read.</summary>
    public static void Release(in CommandOutcome outcome)
    {
        for (int i = 0; i < outcome.Count; i++)
        {
            outcome[i].Document?.Dispose();
        }
    }

    /// <summary>Returns the replies, one for each command, in their order.</summary>
    public Enumerator GetEnumerator() => new(_replies);

    /// <summary>Moves from reply to reply.</summary>
    /// <param name="replies">The replies with their lengths.</param>
    public ref struct Enumerator(ReadOnlySpan<byte> replies)
    {
        private ReadOnlySpan<byte> _rest = replies;

        /// <summary>The reply, one complete value of RESP3.</summary>
        public ReadOnlySpan<byte> Current { get; private set; }

        /// <summary>Moves to the next reply; false at the end.</summary>
        public bool MoveNext()
        {
            if (_rest.IsEmpty)
            {
                return false;
            }

            int length = BinaryPrimitives.ReadInt32LittleEndian(_rest);
            Current = _rest.Slice(sizeof(int), length);
            _rest = _rest[(sizeof(int) + length)..];
            return true;
        }
    }
}
