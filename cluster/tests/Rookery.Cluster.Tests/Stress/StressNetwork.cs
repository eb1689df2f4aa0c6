using System.Collections.Concurrent;
using System.Threading.Channels;
using Rookery.Cluster.Peers;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Stress;

/// <summary>
/// The links between the members of one process. Like real members, each pair has in each direction one connection for
/// control messages and one for entries, both with a limit on queued bytes. Pool threads deliver the messages. Links
/// can be cut, and can lose and delay messages.
/// </summary>
internal sealed class StressNetwork
{
    private readonly ConcurrentDictionary<(NodeId From, NodeId To), Link> _links = new();

    /// <summary>The running members.</summary>
    public ConcurrentDictionary<NodeId, StressMember> Up { get; } = new();

    /// <summary>The percentage of lost messages.</summary>
    public int LossPercent { get; set; }

    /// <summary>The longest delay of a message.</summary>
    public int MaxDelayMilliseconds { get; set; }

    /// <summary>Exceptions that a receiver threw; there must be none.</summary>
    public ConcurrentQueue<Exception> Failures { get; } = new();

    public Link Between(NodeId from, NodeId to) =>
        _links.GetOrAdd((from, to), static (ends, network) => new Link(network, ends.From, ends.To), this);

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
        foreach (var link in _links.Values)
        {
            link.Mend();
        }
    }

    /// <summary>
    /// Breaks the links from and to a stopped member, so that the other members notice its stop, as in reality.
    /// </summary>
    public void Break(NodeId member)
    {
        foreach (var link in _links.Values.Where(link => link.From == member || link.To == member))
        {
            link.Break();
        }
    }
}

/// <summary>The link from one member to another: a connection for control messages and one for entries.</summary>
internal sealed class Link
{
    // The limits of real connections; messages that exceed them are dropped.
    private const int ControlBytes = 64 << 10;
    private const int BulkBytes = 256 << 10;

    private readonly StressNetwork _network;
    private readonly Connection _control;
    private readonly Connection _bulk;
    private TaskCompletionSource _broken = new();
    private volatile bool _isCut;

    public Link(StressNetwork network, NodeId from, NodeId to)
    {
        _network = network;
        (From, To) = (from, to);
        (_control, _bulk) = (new Connection(this, ControlBytes), new Connection(this, BulkBytes));
    }

    public NodeId From { get; }

    public NodeId To { get; }

    public bool IsCut => _isCut;

    /// <summary>Completes when the link breaks the next time.</summary>
    public Task Broken => Volatile.Read(ref _broken).Task;

    public void Send(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        if (_isCut || Random.Shared.Next(100) < _network.LossPercent)
        {
            return;
        }

        var copies = new JournalFrame[frames.Length];
        // Estimates: 128 bytes for a message, and 64 for the header of each frame.
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

    /// <summary>A connection: a queue of messages with a limit. Messages that exceed the limit are dropped.</summary>
    private sealed class Connection
    {
        private readonly Channel<(Message Message, JournalFrame[] Frames, int Bytes)> _waiting =
            Channel.CreateUnbounded<(Message, JournalFrame[], int)>(
                new UnboundedChannelOptions { SingleReader = true }
            );
        private readonly int _mostBytes;
        private int _bytes;

        public Connection(Link link, int mostBytes)
        {
            _mostBytes = mostBytes;
            _ = RunAsync(link);
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

        private async Task RunAsync(Link link)
        {
            await foreach (var (message, frames, bytes) in _waiting.Reader.ReadAllAsync())
            {
                Interlocked.Add(ref _bytes, -bytes);
                await link.DeliverAsync(message, frames);
            }
        }
    }
}

/// <summary>
/// The network as one member uses it from a start until it stops; a restart gets a new instance.
/// </summary>
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
        var link = network.Between(self, leader);
        var broken = link.Broken;
        if (
            IsDead
            || link.IsCut
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
