using System.Globalization;
using System.Text;
using Rookery.Crash.Tests;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;
using MemberChange = Rookery.Raft.MemberChange;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// A simulated cluster: members with the real store and consensus, on simulated disks, network and time, all on the
/// caller's thread. Events run in the order of their scheduled times, so the same seed gives the same run.
/// </summary>
internal sealed class SteppedCluster : IDisposable
{
    /// <summary>The database's history id, a part of its change vectors.</summary>
    public const string HistoryId = "0123456789012345678901";

    private readonly PriorityQueue<Action, (long Ticks, long Order)> _planned = new();
    private readonly Continuations _continuations = new();
    private readonly SynchronizationContext? _context = SynchronizationContext.Current;
    private long _order;

    public SteppedCluster(int seed, bool acknowledgesItself = false)
    {
        Seed = seed;
        Random = new Random(seed);
        Wire = new SimulatedWire(this) { AcknowledgesItself = acknowledgesItself };
        SynchronizationContext.SetSynchronizationContext(_continuations);
    }

    public int Seed { get; }

    public Random Random { get; }

    /// <summary>The true time, and the monotonic time of all members.</summary>
    public SimulatedTimeProvider Time { get; } = new();

    public SimulatedWire Wire { get; }

    public List<SteppedMember> Members { get; } = [];

    /// <summary>Observes each step; null for none.</summary>
    public HostObserver? Observer { get; set; }

    /// <summary>Wraps the disk of a member.</summary>
    public Func<SteppedMember, IDisk, IDisk> WrapDisk { get; init; } = static (_, disk) => disk;

    public long RetainedJournalBytes { get; init; } = 1 << 20;

    public int MaxMessageBytes { get; init; } = new CoreOptions().MaxMessageBytes;

    public long CautionMicroseconds { get; init; } = new CoreOptions().CautionMicroseconds;

    /// <summary>The longest duration of applying the entries that are due.</summary>
    public double LongestApplyMilliseconds { get; set; } = 1;

    /// <summary>Microseconds since the start of the simulation.</summary>
    public long Now => Time.GetTimestamp() / TimeSpan.TicksPerMicrosecond;

    /// <summary>The number of events so far.</summary>
    public long Events { get; private set; }

    public SteppedMember A => Members[0];

    public SteppedMember B => Members[1];

    public SteppedMember C => Members[2];

    /// <summary>The member that leads in the highest term; null when none does.</summary>
    public SteppedMember? Leader =>
        Members.Where(member => member.Consensus is { IsLeader: true }).MaxBy(member => member.Consensus!.Term);

    /// <summary>
    /// Makes a cluster like an operator: one member founds it, the others join as learners and are promoted.
    /// </summary>
    public static SteppedCluster Of(int members, int seed = 1) => new SteppedCluster(seed).Form(members);

    /// <summary>Forms the cluster, with one database.</summary>
    public SteppedCluster Form(int members)
    {
        for (int i = 0; i < members; i++)
        {
            Members.Add(new SteppedMember(this, i, mayBegin: i == 0));
            Members[i].Open();
        }

        foreach (var member in Members.Skip(1))
        {
            Change(MemberChange.Learner, member);
        }

        foreach (var member in Members.Skip(1))
        {
            Change(MemberChange.Voter, member);
        }

        Assert.Null(Do(A, CommandEncoder.CreateDatabase("db", HistoryId)).Rejection);
        return this;
    }

    public SteppedMember? Find(NodeId id) => Members.Find(member => member.Id == id);

    /// <summary>Schedules an action.</summary>
    public void After(double milliseconds, Action work) =>
        _planned.Enqueue(work, (Time.GetTimestamp() + (long)(milliseconds * TimeSpan.TicksPerMillisecond), _order++));

    /// <summary>Waits for a simulated time.</summary>
    public Task Pause(double milliseconds)
    {
        var ended = new TaskCompletionSource();
        After(milliseconds, ended.SetResult);
        return ended.Task;
    }

    /// <summary>
    /// Returns an answer; null when it takes longer, or when its member ended before.
    /// </summary>
    public Task<T?> AnswerInTime<T>(Task<T?> answer, SteppedMember member, double milliseconds = 2_000)
        where T : struct
    {
        var first = new TaskCompletionSource<T?>();
        int start = member.Starts;
        After(milliseconds, () => first.TrySetResult(null));
        _ = ForwardAnswerAsync();
        return first.Task;

        async Task ForwardAnswerAsync()
        {
            var received = await answer;
            if (member.IsUp && member.Starts == start)
            {
                first.TrySetResult(received);
            }
        }
    }

    /// <summary>Runs the next event.</summary>
    public void Step()
    {
        Assert.True(_planned.TryDequeue(out var work, out var at), "there is a next event");
        Events++;
        Time.Advance(TimeSpan.FromTicks(Math.Max(0, at.Ticks - Time.GetTimestamp())));
        _continuations.Run();
        work();
        _continuations.Run();
        foreach (var member in Members)
        {
            member.ScheduleWork();
        }

        Observer?.ObserveStep();
    }

    /// <summary>Runs the events of a simulated time.</summary>
    public void RunFor(double milliseconds)
    {
        long end = Now + (long)(milliseconds * 1000);
        while (Now < end)
        {
            Step();
        }
    }

    /// <summary>Runs events until a condition holds; fails when it does not within a simulated time.</summary>
    /// <param name="holds">The condition.</param>
    /// <param name="condition">The condition in words, for the failure.</param>
    /// <param name="seconds">The simulated time.</param>
    public void RunUntil(Func<bool> holds, string condition, int seconds = 30)
    {
        long end = Now + (seconds * 1_000_000L);
        while (!holds())
        {
            Assert.True(
                Now < end,
                $"seed {Seed}, after {Now} µs: expected within {seconds} s: {condition}. {DescribeMembers()}"
            );
            Step();
        }
    }

    /// <summary>Runs events until a task of the host completes.</summary>
    public T Await<T>(Task<T> task, int seconds = 30)
    {
        RunUntil(() => task.IsCompleted, "an answer", seconds);
        return task.GetAwaiter().GetResult();
    }

    /// <summary>Runs events until there is a leader, and returns it.</summary>
    public SteppedMember AwaitLeader()
    {
        RunUntil(() => Leader is not null, "a leader");
        return Leader!;
    }

    /// <summary>Runs events until the leader has accepted a change, or it was made already.</summary>
    public void Change(MemberChange change, SteppedMember member) =>
        RunUntil(
            () =>
                Leader?.Consensus!.ChangeMember(change, member.Id) is ChangeAnswer.Accepted or ChangeAnswer.NothingToDo,
            $"{change} {member}"
        );

    /// <summary>Proposes a command through a member, and runs events until its outcome is known.</summary>
    public CommandOutcome Do(SteppedMember through, CommandBuffer command) => Await(through.Propose(command));

    /// <summary>Stores a document through a member; fails unless it is acknowledged.</summary>
    public CommandOutcome Put(SteppedMember through, string id, long value = 1, int padding = 0)
    {
        var outcome = Do(through, PutOf(id, value, padding: padding));
        Assert.True(outcome.Rejection is null, $"seed {Seed}: {outcome.Rejection?.Message} {DescribeMembers()}");
        return outcome;
    }

    /// <summary>Makes the command that stores <c>{"n": value}</c> as a document.</summary>
    /// <param name="id">The document's id.</param>
    /// <param name="value">The value, by which readers recognise the write.</param>
    /// <param name="key">The idempotency key; default for none.</param>
    /// <param name="expected">The change vector to check; default for none.</param>
    /// <param name="padding">The number of bytes by which the document is lengthened.</param>
    /// <param name="database">The database's number.</param>
    public static CommandBuffer PutOf(
        string id,
        long value,
        IdempotencyKey key = default,
        ExpectedChangeVector expected = default,
        int padding = 0,
        uint database = 1
    )
    {
        using var writer = new BatchWriter(CommandKind.Batch, database, key);
        writer.Put(
            Encoding.UTF8.GetBytes(id),
            expected,
            new ParsedDocument
            {
                BodyHead = Encoding.UTF8.GetBytes(
                    $"\"n\":{value.ToString(CultureInfo.InvariantCulture)}"
                        + $"{(padding == 0 ? "" : $",\"p\":\"{new string('x', padding)}\"")}"
                ),
            }
        );
        return writer.Complete();
    }

    /// <summary>
    /// Runs until all running members have applied the same entries; fails unless their tables are equal byte for byte.
    /// </summary>
    public void AwaitEqual(int seconds = 60)
    {
        RunUntil(
            () =>
                Leader is { } leader
                && Members.All(member =>
                    !member.IsUp || member.Consensus!.AppliedIndex == leader.Consensus!.ReadState().LastIndex
                ),
            "equal members",
            seconds
        );
        var up = Members.FindAll(member => member.IsUp);
        string rows = Rows.Text(up[0].Store!.Storage);
        foreach (var member in up)
        {
            Assert.True(
                string.Equals(rows, Rows.Text(member.Store!.Storage), StringComparison.Ordinal),
                $"seed {Seed}: {member} has other rows than {up[0]}"
            );
            Assert.Equal(up[0].Store!.Applier.OutcomeHash, member.Store.Applier.OutcomeHash);
        }
    }

    /// <summary>Describes the members, for a failure.</summary>
    public string DescribeMembers() =>
        string.Join(
            "; ",
            Members.Select(member =>
                member.Consensus is { } consensus
                    ? $"{member}: {consensus.ReadState()} peers {string.Join(", ", consensus.Report.ReadPeers())} "
                        + $"manifest {member.Store!.DurablePosition.Index} journal {member.Store.Journal.FirstIndex} "
                        + $"refusal {consensus.Refusal?.Message} {string.Join(' ', member.Troubles.TakeLast(2))}"
                    : $"{member}: down"
            )
        );

    public void Dispose()
    {
        foreach (var member in Members.Where(member => member.IsUp))
        {
            member.Kill();
        }

        SynchronizationContext.SetSynchronizationContext(_context);
    }
}
