using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Transfer;
using Rookery.Journal;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>The faults of the simulated network.</summary>
internal sealed record WireFaults
{
    /// <summary>The share of messages that are lost, from 0 to 1.</summary>
    public double Loss { get; init; }

    /// <summary>The share of messages that arrive twice, from 0 to 1.</summary>
    public double Duplication { get; init; }

    /// <summary>
    /// The share of messages, from 0 to 1, that take up to <see cref="LongestDelayMilliseconds"/>, so that later
    /// messages overtake them.
    /// </summary>
    public double Straying { get; init; }

    public int LongestDelayMilliseconds { get; init; } = 400;
}

/// <summary>
/// The connections between all members. Messages are copied and arrive late, twice, out of order or never. Forwarded
/// commands and outcomes use the same connections.
/// </summary>
internal sealed class SimulatedWire(SteppedCluster cluster)
{
    private readonly HashSet<(NodeId From, NodeId To)> _cut = [];

    public WireFaults Faults { get; set; } = new();

    /// <summary>The time after which a silent connection counts as broken.</summary>
    public double BreaksAfterMilliseconds { get; set; } = 4_000;

    /// <summary>Whether receivers acknowledge entries that they were never given: a planted bug.</summary>
    public bool AcknowledgesItself { get; init; }

    /// <summary>Whether voters grant what they refuse: a planted bug.</summary>
    public bool GrantsEveryVote { get; set; }

    /// <summary>
    /// Returns the entry that a receiver gets instead of the sent one, to simulate a member whose version applies
    /// entries differently; null to change none.
    /// </summary>
    public Func<NodeId, JournalFrame, JournalFrame>? Alters { get; set; }

    /// <summary>Receives each message when it is sent; null for none.</summary>
    public Action<Message>? MessageSent { get; set; }

    /// <summary>The number of completely fetched states.</summary>
    public int StatesFetched { get; private set; }

    /// <summary>The number of fetched states that contained only changes.</summary>
    public int ChangesFetched { get; private set; }

    /// <summary>The highest index at which a leader announced that a majority had the same outcome.</summary>
    public long AgreedThrough { get; private set; }

    /// <summary>The longest time that a request for a content takes, in one direction.</summary>
    public double ContentMilliseconds { get; set; } = 3;

    /// <summary>Whether contents are never offered before their entries.</summary>
    public bool LosesOffers { get; set; }

    /// <summary>The members that leave requests about contents unanswered.</summary>
    public HashSet<NodeId> SilentContents { get; } = [];

    /// <summary>The members that asked about contents, each with the member that it asked.</summary>
    public List<(NodeId From, NodeId To)> ContentsAsked { get; } = [];

    /// <summary>The number of pieces of contents that were sent.</summary>
    public int Pieces { get; private set; }

    /// <summary>The number of requests for pieces between two that break; 0 if none breaks.</summary>
    public int ContentRequestsBetweenBreaks { get; set; }

    /// <summary>The numbers of the requests for pieces that break, counted from 1.</summary>
    public HashSet<int> BrokenContentRequests { get; } = [];

    private int _contentRequests;

    /// <summary>Returns whether the next request for a piece breaks.</summary>
    public bool BreaksContent()
    {
        _contentRequests++;
        return BrokenContentRequests.Contains(_contentRequests)
            || (ContentRequestsBetweenBreaks > 0 && _contentRequests % (ContentRequestsBetweenBreaks + 1) == 0);
    }

    /// <summary>Counts a piece of a content.</summary>
    public void CountContent(in ContentPiece piece) => Pieces += piece.State == ContentState.Whole ? 1 : 0;

    /// <summary>Returns whether two members are connected in both directions.</summary>
    public bool Connects(NodeId one, NodeId other) => !_cut.Contains((one, other)) && !_cut.Contains((other, one));

    /// <summary>Cuts the connection from one member to another, in this direction only.</summary>
    public void Cut(NodeId from, NodeId to) => _cut.Add((from, to));

    /// <summary>Cuts a member off from all others, in both directions.</summary>
    public void Isolate(SteppedMember member)
    {
        foreach (var other in cluster.Members.Where(other => other != member))
        {
            Cut(member.Id, other.Id);
            Cut(other.Id, member.Id);
        }
    }

    /// <summary>Restores all connections.</summary>
    public void Heal() => _cut.Clear();

    /// <summary>Sends a message with copies of its entries.</summary>
    public void Send(in Message message, ReadOnlySpan<JournalFrame> frames)
    {
        AgreedThrough =
            message.Kind == MessageKind.Heartbeat ? Math.Max(AgreedThrough, message.Outcome.Index) : AgreedThrough;
        var copy =
            GrantsEveryVote && message.Kind == MessageKind.VoteReply ? message with { Refused = false } : message;
        cluster.Observer?.ObserveMessage(copy);
        MessageSent?.Invoke(copy);
        var entries = new JournalFrame[frames.Length];
        for (int i = 0; i < frames.Length; i++)
        {
            entries[i] = frames[i] with { Payload = frames[i].Payload.ToArray() };
            entries[i] = Alters?.Invoke(message.To, entries[i]) ?? entries[i];
        }

        if (AcknowledgesItself && copy.Kind == MessageKind.Append && cluster.Find(copy.To) is { } receiver)
        {
            var reply = new Message
            {
                Kind = MessageKind.AppendReply,
                From = copy.To,
                To = copy.From,
                Term = copy.Term,
                StartNumber = receiver.Starts,
                Position = new LogPosition(copy.Term, copy.LastIndex),
            };
            ScheduleArrival(reply.From, reply.To, () => cluster.Find(reply.To)?.Consensus?.Received(reply, []));
        }

        ScheduleArrival(copy.From, copy.To, () => cluster.Find(copy.To)?.Consensus?.Received(copy, entries));
    }

    /// <summary>
    /// Carries a command to a member and its outcome back. A loss on the way leaves the outcome unknown. The command is
    /// refused as never sent if the sender has ended (<paramref name="isDead"/>) or the connection is cut.
    /// </summary>
    public Task<CommandOutcome> ForwardAsync(
        SteppedMember from,
        NodeId leader,
        CommandBuffer command,
        bool isDead,
        CancellationToken cancellationToken
    )
    {
        var answer = new TaskCompletionSource<CommandOutcome>(TaskCreationOptions.RunContinuationsAsynchronously);
        byte[] bytes = command.Written.ToArray();
        bool wantsReceipt = command.WantsReceipt;
        long term = command.LeaderTerm;
        if (isDead || _cut.Contains((from.Id, leader)) || cluster.Find(leader)?.Consensus is null)
        {
            answer.SetResult(new CommandOutcome(new Rejection(RejectionKind.NoLeader, "never sent")));
            return answer.Task;
        }

        ScheduleArrival(
            from.Id,
            leader,
            () => _ = ProposeAsync(from, leader, term, bytes, wantsReceipt, answer),
            mayDuplicate: false
        );
        cancellationToken.Register(() =>
            answer.TrySetResult(new CommandOutcome(new Rejection(RejectionKind.OutcomeUnknown, "given up")))
        );
        cluster.After(
            BreaksAfterMilliseconds,
            () =>
                answer.TrySetResult(
                    new CommandOutcome(new Rejection(RejectionKind.OutcomeUnknown, "the connection broke"))
                )
        );
        return answer.Task;
    }

    private async Task ProposeAsync(
        SteppedMember from,
        NodeId leader,
        long term,
        byte[] bytes,
        bool wantsReceipt,
        TaskCompletionSource<CommandOutcome> answer
    )
    {
        if (cluster.Find(leader)?.Consensus is not { } consensus)
        {
            return;
        }

        var command = CommandBuffer.Rent(bytes.Length);
        bytes.CopyTo(command.GetSpan(bytes.Length));
        command.Advance(bytes.Length);
        command.WantsReceipt = wantsReceipt;
        command.LeaderTerm = term;
        var outcome = await consensus.ProposeForwardedAsync(command, CancellationToken.None);
        if (!ReferenceEquals(cluster.Find(leader)?.Consensus, consensus))
        {
            return; // The member ended before it could answer.
        }

        int start = from.Starts;
        ScheduleArrival(
            leader,
            from.Id,
            () => _ = from.Starts == start && answer.TrySetResult(outcome),
            mayDuplicate: false
        );
    }

    /// <summary>The etag after which the last fetched state had the changes; null if it had all rows.</summary>
    public long? FetchedSince { get; private set; }

    /// <summary>The exception with which the next fetch of a state fails; used once.</summary>
    public Exception? FetchFailure { get; set; }

    /// <summary>The time after which such a fetch fails.</summary>
    public double FetchFailsAfterMilliseconds { get; set; }

    /// <summary>Fetches the state of a member, file by file.</summary>
    public async Task<FetchedState> FetchStateAsync(SteppedMember to, NodeId from, CancellationToken cancellationToken)
    {
        var member = cluster.Find(from)!;
        int start = member.Starts;
        CheckConnection();
        if (FetchFailure is { } failure)
        {
            FetchFailure = null;
            await cluster.Pause(FetchFailsAfterMilliseconds);
            throw failure;
        }

        var store = member.Store!;
        SnapshotOffer? offer = null;
        while (offer is null)
        {
            var offering = member.Consensus!.OfferStateAsync(
                to.Store!.Installation.ChangesNeededSince,
                to.Store.AppliedIndex
            );
            do
            {
                await cluster.Pause(20);
                CheckConnection();
            } while (!offering.IsCompleted);

            offer = await offering;
        }

        var inbox = to.Store!.Inbox;
        inbox.Begin(offer);
        foreach (var file in offer.Files)
        {
            await cluster.Pause(cluster.Random.Next(1, 200));
            while (Math.Max(member.PausedMilliseconds, to.PausedMilliseconds) is > 0 and var paused)
            {
                await cluster.Pause(paused);
            }

            CheckConnection();
            using var source =
                store.Offers.Open(offer.Id, file.Name) ?? throw new StateTransferException("The offer was given up.");
            using var target = inbox.Open(file, inbox.ResumeAt(file));
            byte[] missing = new byte[file.Bytes - target.Length];
            target.Append(missing.AsSpan(0, source.Read(missing, target.Length)));
            target.Sync();
        }

        StatesFetched++;
        FetchedSince = offer.Since;
        ChangesFetched += offer.Since is null ? 0 : 1;
        return inbox.Check(offer);

        void CheckConnection()
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (!member.IsUp || member.Starts != start || _cut.Contains((from, to.Id)) || _cut.Contains((to.Id, from)))
            {
                throw new StateTransferException("The connection broke.");
            }
        }
    }

    /// <summary>
    /// Schedules an arrival. Messages may be duplicated; commands may not, because their numbers are refused the second
    /// time.
    /// </summary>
    private void ScheduleArrival(NodeId from, NodeId to, Action arrive, bool mayDuplicate = true)
    {
        var random = cluster.Random;
        int copies = mayDuplicate && random.NextDouble() < Faults.Duplication ? 2 : 1;
        for (int i = 0; i < copies; i++)
        {
            bool isLost = random.NextDouble() < Faults.Loss || _cut.Contains((from, to));
            // The latency of a home network, unless the message strays.
            double milliseconds =
                random.NextDouble() < Faults.Straying
                    ? random.Next(Faults.LongestDelayMilliseconds)
                    : 0.2 + random.NextDouble();
            if (!isLost)
            {
                cluster.After(milliseconds, Arrive);
            }
        }

        // A paused receiver reads the message when it continues.
        void Arrive()
        {
            if (cluster.Find(to) is { PausedMilliseconds: > 0 and var paused })
            {
                cluster.After(paused, Arrive);
            }
            else if (!_cut.Contains((from, to)))
            {
                arrive();
            }
        }
    }
}
