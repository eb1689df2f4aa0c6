using System.Collections.Concurrent;
using System.Threading.Channels;
using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Stress;

/// <summary>
/// The connections between the members of one process. Like real members, each pair has in each direction a small
/// connection and one for entries, both with limits. Pool threads deliver the messages. Connections can be cut, lose
/// messages and delay them.
/// </summary>
internal sealed class StressNetwork
{
    private readonly ConcurrentDictionary<(NodeId From, NodeId To), Cable> _cables = new();

    /// <summary>The running members.</summary>
    public ConcurrentDictionary<NodeId, StressMember> Up { get; } = new();

    /// <summary>The percentage of lost messages.</summary>
    public int LossPercent { get; set; }

    /// <summary>The longest delay of a message.</summary>
    public int MaxDelayMilliseconds { get; set; }

    /// <summary>Exceptions that left a receiver; there must be none.</summary>
    public ConcurrentQueue<Exception> Failures { get; } = new();

    public Cable Between(NodeId from, NodeId to) =>
        _cables.GetOrAdd((from, to), static (ends, network) => new Cable(network, ends.From, ends.To), this);

    /// <summary>Cuts a member off from others.</summary>
    public void Cut(NodeId member, IEnumerable<NodeId> others)
    {
        foreach (var other in others.Where(other => other != member))
        {
            Between(member, other).Cut();
            Between(other, member).Cut();
        }
    }

    /// <summary>Ends all cuts.</summary>
    public void Heal()
    {
        foreach (var cable in _cables.Values)
        {
            cable.Mend();
        }
    }

    /// <summary>Breaks the connections from and to a stopped member, as the others would notice.</summary>
    public void Break(NodeId member)
    {
        foreach (var cable in _cables.Values.Where(cable => cable.From == member || cable.To == member))
        {
            cable.Break();
        }
    }
}

/// <summary>The connection from one member to another.</summary>
internal sealed class Cable
{
    // The limits of real connections; messages that exceed them are dropped.
    private const int ControlBytes = 64 << 10;
    private const int BulkBytes = 256 << 10;

    private readonly StressNetwork _network;
    private readonly Lane _control;
    private readonly Lane _bulk;
    private TaskCompletionSource _broken = new();
    private volatile bool _isCut;

    public Cable(StressNetwork network, NodeId from, NodeId to)
    {
        _network = network;
        (From, To) = (from, to);
        (_control, _bulk) = (new Lane(this, ControlBytes), new Lane(this, BulkBytes));
    }

    public NodeId From { get; }

    public NodeId To { get; }

    public bool IsCut => _isCut;

    /// <summary>Completes when the current connection breaks.</summary>
    public Task Broken => Volatile.Read(ref _broken).Task;

    public void Send(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        if (_isCut || Random.Shared.Next(100) < _network.LossPercent)
        {
            return;
        }

        var copies = new JournalFrame[frames.Length];
        // About the size of a message, and of the header of each frame.
        int bytes = 128;
        for (int i = 0; i < frames.Length; i++)
        {
            copies[i] = frames[i] with { Payload = frames[i].Payload.ToArray() };
            bytes += frames[i].Payload.Length + 64;
        }

        (message.Kind == MessageKind.Append ? _bulk : _control).Put(message, copies, bytes);
    }

    public void Cut()
    {
        _isCut = true;
        Break();
    }

    public void Mend() => _isCut = false;

    public void Break()
    {
        Interlocked.Exchange(ref _broken, new TaskCompletionSource()).SetResult();
        if (_network.Up.TryGetValue(From, out var sender))
        {
            sender.Consensus!.Unreachable(To);
        }
    }

    private async Task DeliverAsync(Message message, JournalFrame[] frames)
    {
        if (_network.MaxDelayMilliseconds > 0)
        {
            await Task.Delay(Random.Shared.Next(_network.MaxDelayMilliseconds));
        }

        if (_isCut || !_network.Up.TryGetValue(To, out var receiver))
        {
            return;
        }

        try
        {
            receiver.Consensus!.Received(message, frames);
        }
        catch (Exception failure)
        {
            _network.Failures.Enqueue(failure);
        }
    }

    /// <summary>A queue of messages with a limit. Messages that exceed it are dropped.</summary>
    private sealed class Lane
    {
        private readonly Channel<(Message Message, JournalFrame[] Frames, int Bytes)> _waiting =
            Channel.CreateUnbounded<(Message, JournalFrame[], int)>(
                new UnboundedChannelOptions { SingleReader = true }
            );
        private readonly int _mostBytes;
        private int _bytes;

        public Lane(Cable cable, int mostBytes)
        {
            _mostBytes = mostBytes;
            _ = RunAsync(cable);
        }

        public void Put(in Message message, JournalFrame[] frames, int bytes)
        {
            if (Volatile.Read(ref _bytes) is var before && before > 0 && before + bytes > _mostBytes)
            {
                return;
            }

            Interlocked.Add(ref _bytes, bytes);
            _waiting.Writer.TryWrite((message, frames, bytes));
        }

        private async Task RunAsync(Cable cable)
        {
            await foreach (var (message, frames, bytes) in _waiting.Reader.ReadAllAsync())
            {
                Interlocked.Add(ref _bytes, -bytes);
                await cable.DeliverAsync(message, frames);
            }
        }
    }
}

/// <summary>The network of one start of one member.</summary>
internal sealed class StressPeers(NodeId self, StressNetwork network) : IPeerNetwork
{
    private static readonly CommandOutcome NeverSent = new(new Rejection(RejectionKind.NoLeader, "never sent"));
    private static readonly CommandOutcome ConnectionBroke = new(
        new Rejection(RejectionKind.OutcomeUnknown, "the connection broke")
    );

    public volatile bool IsDead;

    public void Send(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        if (!IsDead)
        {
            network.Between(self, message.To).Send(message, frames);
        }
    }

    public async ValueTask<CommandOutcome> ForwardAsync(
        NodeId leader,
        CommandBuffer command,
        CancellationToken cancellationToken
    )
    {
        var cable = network.Between(self, leader);
        var broken = cable.Broken;
        if (
            IsDead
            || cable.IsCut
            || network.Between(leader, self).IsCut
            || !network.Up.TryGetValue(leader, out var there)
        )
        {
            return NeverSent;
        }

        var sent = CommandBuffer.Rent(command.Length);
        command.Written.Span.CopyTo(sent.GetSpan(command.Length));
        sent.Advance(command.Length);
        (sent.WantsReceipt, sent.LeaderTerm) = (command.WantsReceipt, command.LeaderTerm);
        var proposing = Task.Run(
            () => there.Consensus!.ProposeForwardedAsync(sent, CancellationToken.None).AsTask(),
            CancellationToken.None
        );
        return await Task.WhenAny(proposing, broken) == proposing ? await proposing : ConnectionBroke;
    }

    public void SetPeers(IReadOnlyList<PeerAddress> peers)
    {
        // All members are always connected.
    }
}
