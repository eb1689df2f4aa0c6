using System.Buffers;
using System.Collections.Concurrent;
using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>Stores received messages, answers commands, and can be blocked.</summary>
internal sealed class TestReceiver : IPeerReceiver, IDisposable
{
    private readonly ManualResetEventSlim _appendsMayPass = new(initialState: true);
    private int _unreachable;
    private int _blocked;

    public ConcurrentQueue<(Message Message, JournalFrame[] Frames)> Messages { get; } = new();

    /// <summary>Whether it stores messages.</summary>
    public bool StoresMessages { get; set; } = true;

    /// <summary>The number of calls of <see cref="Unreachable"/>.</summary>
    public int Unreachables => Volatile.Read(ref _unreachable);

    /// <summary>The number of blocked appends.</summary>
    public int Blocked => Volatile.Read(ref _blocked);

    /// <summary>Answers forwarded commands.</summary>
    public Func<CommandBuffer, CancellationToken, ValueTask<CommandOutcome>> Propose { get; set; } =
        (command, _) => Echo(command);

    /// <summary>Lets received appends wait for <see cref="Unblock"/>.</summary>
    public void Block() => _appendsMayPass.Reset();

    public void Unblock() => _appendsMayPass.Set();

    public void Dispose() => _appendsMayPass.Dispose();

    public void Received(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        if (message.Kind == MessageKind.Append && !_appendsMayPass.IsSet)
        {
            Interlocked.Increment(ref _blocked);
            _appendsMayPass.Wait();
        }

        if (StoresMessages)
        {
            Messages.Enqueue(
                (message, [.. frames.ToArray().Select(frame => frame with { Payload = frame.Payload.ToArray() })])
            );
        }
    }

    public void Unreachable(NodeId node) => Interlocked.Increment(ref _unreachable);

    public ValueTask<CommandOutcome> ProposeForwardedAsync(
        CommandBuffer command,
        CancellationToken cancellationToken
    ) => Propose(command, cancellationToken);

    /// <summary>Answers with a document that is the command, and its length as etag.</summary>
    public static ValueTask<CommandOutcome> Echo(CommandBuffer command)
    {
        var document = CommandBuffer.Rent(command.Length);
        document.Write(command.Written.Span);
        var outcome = new CommandOutcome(
            index: 1,
            logTimeTicks: 2,
            new OperationResult
            {
                Status = Documents.Consensus.OperationStatus.Patched,
                Etag = command.Length,
                Document = document,
            }
        );
        command.Dispose();
        return new ValueTask<CommandOutcome>(outcome);
    }
}
