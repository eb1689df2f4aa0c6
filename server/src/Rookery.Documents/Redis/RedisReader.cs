using System.Buffers;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Redis.Running;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Redis;

/// <summary>Runs commands of Redis that only read, on a snapshot. Thread-safe.</summary>
public static class RedisReader
{
    /// <summary>Bytes of a reply: it must fit into memory.</summary>
    public const int MaxReplyBytes = 32 << 20;

    [ThreadStatic]
    private static Idle? _idle;

    /// <summary>Runs a command and writes its reply in RESP3.</summary>
    /// <param name="reader">The snapshot, opened after a read barrier. Keys that it hides have expired.</param>
    /// <param name="time">The cluster's time, from which times to live count.</param>
    /// <param name="command">A data command that does not write.</param>
    /// <param name="arguments">The arguments without the name.</param>
    /// <param name="reply">Receives one value. After an exception, the bytes in it are not complete.</param>
    /// <param name="cancellationToken">Ends the command before its next key.</param>
    /// <exception cref="DamagedException">A document is damaged.</exception>
    /// <exception cref="SnapshotEndedException">The snapshot pins too much memory or too many files.</exception>
    /// <exception cref="OperationCanceledException">The command was cancelled.</exception>
    /// <exception cref="RedisLimitException">The reply is longer than <see cref="MaxReplyBytes"/>, or takes too
    /// much work.</exception>
    public static void Execute(
        in DatabaseReader reader,
        ClusterTime time,
        RedisCommandInfo command,
        RedisArguments arguments,
        IBufferWriter<byte> reply,
        CancellationToken cancellationToken
    )
    {
        Invariant.Holds(!command.IsWrite, "a snapshot carries out only commands that read");
        var idle = _idle ?? new Idle();
        _idle = null;
        idle.Store.Begin(reader, time.UtcTicks, cancellationToken);
        var session = idle.Interpreter.Session;
        session.Reply.SetLimit(MaxReplyBytes, MaxReplyBytes);
        session.Reader = reader;
        session.Cancellation = cancellationToken;
        try
        {
            idle.Interpreter.Run(idle.Store, command.Opcode, arguments, reply);
        }
        finally
        {
            session.Reader = default;
            session.Reply.Detach();
            _idle = idle;
        }
    }

    /// <summary>
    /// Returns the version of a key for <see cref="RedisCommandWriter.Watch"/>: its etag; for an absent key the
    /// negative etag of the snapshot's last operation, so that the guard notices a key that was created and deleted
    /// again.
    /// </summary>
    /// <param name="reader">The snapshot, opened after a read barrier.</param>
    /// <param name="time">The cluster's time.</param>
    /// <param name="key">The key, whose id is not too long.</param>
    public static long ReadVersion(in DatabaseReader reader, ClusterTime time, ReadOnlySpan<byte> key)
    {
        var store = new SnapshotStore();
        store.Begin(reader, time.UtcTicks, CancellationToken.None);
        using var target = new RedisTarget();
        target.Open(store, key);
        return target.Exists ? target.Stored.Etag : -reader.Sequence;
    }

    private sealed class Idle
    {
        public SnapshotStore Store { get; } = new();

        public RedisInterpreter Interpreter { get; } = new();
    }
}
