using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Redis.Running;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>
/// Applies <see cref="CommandKind.Redis"/>. Results depend only on the log and the tables. Members compare the replies,
/// but of errors only the codes, because a later version may word an error in another way.
/// </summary>
/// <param name="rows">Stores documents.</param>
internal sealed class RedisOperations(DocumentRows rows) : IDisposable
{
    /// <summary>Bytes of the replies of one command of the log: members send them to each other.</summary>
    public const int MaxReplyBytes = 16 << 20;

    private const int IdleSlices = 1024;

    private readonly RedisInterpreter _interpreter = new();
    private readonly LogStore _store = new(rows);
    private RedisSlice[] _slices = new RedisSlice[16];
    private uint _compared;

    /// <summary>Carries out all commands, if all guards hold.</summary>
    public CommandOutcome Apply(ApplyContext context, long index, ref CommandReader command)
    {
        _store.Begin(context);
        _interpreter.Session.Store = _store;
        _compared = Checksum.Start;
        var replies = CommandBuffer.Rent();
        bool isOwned = true;
        try
        {
            var reader = new RedisCommandReader(command.ReadRedis());
            replies.GetSpan(RedisOutcome.HeadBytes)[0] = 0;
            replies.Advance(RedisOutcome.HeadBytes);
            if (!HoldGuards(ref reader))
            {
                replies.WrittenSpan[0] = RedisOutcome.Aborted;
            }
            else
            {
                Run(ref reader, replies);
            }

            Invariant.Holds(_store.Etags <= command.OperationCount, "commands of Redis use only their own etags");
            if (_store.Writes == 0)
            {
                context.OperationsWithoutDocumentChange = command.OperationCount;
            }

            isOwned = !context.HasCallers;
            return new CommandOutcome(
                index,
                context.LogTicks,
                new OperationResult
                {
                    Status = OperationStatus.Replied,
                    LastModifiedTicks = context.LogTicks,
                    Low = _store.Writes,
                    High = Checksum.Finish(Checksum.Append(_compared, replies.Written.Span[..RedisOutcome.HeadBytes])),
                    Document = isOwned ? null : replies,
                }
            );
        }
        catch (RedisLimitException limit)
        {
            var refusal = _store.Refusal ?? new Rejection(RejectionKind.TooLarge, limit.Message);
            return new CommandOutcome(refusal with { Database = context.Database.Database.Name });
        }
        finally
        {
            _interpreter.Session.Reply.Detach();
            _slices = _slices.Length > IdleSlices ? new RedisSlice[IdleSlices] : _slices;
            if (isOwned)
            {
                replies.Dispose();
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _interpreter.Dispose();

    private bool HoldGuards(ref RedisCommandReader reader)
    {
        for (int i = 0; i < reader.Guards; i++)
        {
            var key = reader.ReadGuard(out long version);
            using var target = _interpreter.Session.Open(key);
            bool holds =
                version > 0
                    ? target.Exists && target.Stored.Etag == version
                    : !target.Exists && !_store.MayHaveExistedSince(target, -version);
            if (!holds)
            {
                return false; // the other guards, each of which may read thousands of tombstones, change nothing
            }
        }

        return true;
    }

    /// <summary>
    /// Returns the part of a reply that each version writes alike: of an error only its code, which is its first word,
    /// because a later version may word the sentence in another way.
    /// </summary>
    private static ReadOnlySpan<byte> ComparedPartOf(ReadOnlySpan<byte> reply) =>
        reply[0] == (byte)'-' ? reply[..reply.IndexOfAny((byte)' ', (byte)'\r')] : reply;

    private void Run(ref RedisCommandReader reader, CommandBuffer replies)
    {
        while (reader.TryReadCommand(ref _slices, out var opcode, out var arguments))
        {
            _store.Overwrites =
                (opcode == RedisOpcode.Set && arguments.Count == 2)
                || opcode
                    is RedisOpcode.SetWithSeconds
                        or RedisOpcode.SetWithMilliseconds
                        or RedisOpcode.SetMany
                        or RedisOpcode.Delete
                        or RedisOpcode.Unlink;
            int start = replies.Length;
            replies.GetSpan(sizeof(int));
            replies.Advance(sizeof(int));
            _interpreter.Session.Reply.SetLimit(MaxReplyBytes - replies.Length, MaxReplyBytes);
            _interpreter.Run(_store, opcode, arguments, replies);
            int length = replies.Length - start - sizeof(int);
            BinaryPrimitives.WriteInt32LittleEndian(replies.WrittenSpan[start..], length);
            _store.Charge(storedBytes: 0, length);
            _compared = Checksum.Append(_compared, ComparedPartOf(replies.Written.Span[(start + sizeof(int))..]));
        }
    }
}
