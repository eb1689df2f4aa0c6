using Rookery.Histories;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Raft;
using Rookery.Simulation;
using Operation = Rookery.Histories.Operation;
using OperationKind = Rookery.Histories.OperationKind;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>A mistake that the runs must find.</summary>
internal enum PlantedMistake
{
    None,

    /// <summary>Journals report syncs that they did not make.</summary>
    JournalSkipsSync,

    /// <summary>Receivers acknowledge entries that they were never given.</summary>
    ReceiverAcknowledgesUnread,

    /// <summary>Members read without asking the leader.</summary>
    ReadsWithoutBarrier,

    /// <summary>A voter that refuses a vote grants it.</summary>
    VoterGrantsTwice,

    /// <summary>A member stores entries under another term than the leader's.</summary>
    ReceiverChangesTerm,
}

/// <summary>
/// A simulated cluster with faults and clients, driven by a seed. For 12 simulated seconds members lose power, disks
/// stall and fail, connections break and clocks jump. Then the faults end. All members must have every acknowledged
/// write and be equal byte for byte, and the answers to clients must have a valid order.
/// </summary>
internal sealed class HostRun : IDisposable
{
    private const long FaultMicroseconds = 12_000_000;
    private const int Clients = 4;

    private readonly List<HostClient> _clients = [];
    private readonly DeletingClient? _deleting;

    // The members whose journals were damaged, until they have received the lost entries again.
    private readonly Dictionary<SteppedMember, JournalRot> _damaged = [];

    // Chooses the damage of journals; null in runs without any.
    private readonly Random? _rot;
    private readonly FurtherFaults _further;
    private readonly Random _faults;
    private readonly double _faultsPerSecond;

    public HostRun(int seed, PlantedMistake mistake = PlantedMistake.None)
    {
        _faults = new Random(seed * 31);
        _rot = seed % 3 == 0 && !FurtherFaults.IsPair(seed) ? new Random(seed * 37) : null;
        _faultsPerSecond = 0.5 + (_faults.NextDouble() * 2);
        Cluster = new SteppedCluster(seed, mistake == PlantedMistake.ReceiverAcknowledgesUnread)
        {
            CautionMicroseconds = _faults.Next(3) == 0 ? 20_000_000 : 0,
            RetainedJournalBytes = 128 << 10,
            WrapDisk =
                mistake == PlantedMistake.JournalSkipsSync
                    ? static (_, disk) =>
                        new SyncSkippingDisk(disk, static path => path.Contains("/journal-", StringComparison.Ordinal))
                    : static (member, disk) => new StallingDisk(disk, member),
        };
        Cluster.Observer = new HostObserver(Cluster);
        Cluster.Wire.GrantsEveryVote = mistake == PlantedMistake.VoterGrantsTwice;
        int members = _faults.Next(4) == 0 ? 5 : 3;
        Cluster.Form(FurtherFaults.IsPair(seed) ? 2 : members);
        Cluster.Wire.Alters =
            mistake == PlantedMistake.ReceiverChangesTerm
                ? (to, entry) =>
                    to == Cluster.Members[^1].Id && entry.Type == FrameType.NoOp
                        ? entry with
                        {
                            Term = entry.Term - 1,
                        }
                        : entry
                : null;
        for (int i = 0; i < Clients; i++)
        {
            _clients.Add(
                new HostClient(Cluster, i + 1) { ReadsLocally = mistake == PlantedMistake.ReadsWithoutBarrier }
            );
        }

        _further = new FurtherFaults(Cluster, this, seed);

        // Only some seeds delete: the others keep their faults at the same times, so that known failures recur.
        _deleting = seed % 5 is 1 or 2 ? new DeletingClient(Cluster, seed) : null;
    }

    public SteppedCluster Cluster { get; }

    /// <summary>The number of each kind of event.</summary>
    public SortedDictionary<string, int> Marks { get; } = new(StringComparer.Ordinal);

    public HistoryReport Report { get; private set; } = HistoryReport.Of([]);

    /// <summary>Runs, and fails when a promise is broken.</summary>
    public void Run()
    {
        Cluster.Wire.Faults = _faults.Next(3) switch
        {
            0 => new WireFaults(),
            1 => new WireFaults
            {
                Loss = 0.03,
                Duplication = 0.05,
                Straying = 0.05,
                LongestDelayMilliseconds = 200,
            },
            _ => new WireFaults
            {
                Loss = 0.1,
                Duplication = 0.1,
                Straying = 0.1,
            },
        };
        Cluster.LongestApplyMilliseconds = _faults.Next(2) == 0 ? 1 : 30;
        _clients.ForEach(client => _ = client.WorkAsync());
        _ = _deleting?.WorkAsync();
        _further.Begin();
        long end = Cluster.Now + FaultMicroseconds;
        while (Cluster.Now < end)
        {
            // The times between faults are distributed exponentially, so each moment is equally likely.
            Cluster.RunFor(-Math.Log(1 - _faults.NextDouble()) * 1000 / _faultsPerSecond);
            CauseFault();
        }

        Heal();
        Check();
    }

    public void Dispose() => Cluster.Dispose();

    private void CauseFault()
    {
        var member = Cluster.Members[_faults.Next(Cluster.Members.Count)];
        if (_faults.Next(3) == 0)
        {
            member = Cluster.Leader ?? member;
        }

        switch (_faults.Next(12))
        {
            case < 2:
                BringDown("power lost", member, member.LosePower);
                break;
            case < 4:
                BringDown("power lost in a write", member, member.LosePowerWhileWriting);
                break;
            case 4:
                BringDown("killed", member, member.Kill);
                break;
            case 5:
                BringDown("stopped", member, member.StopCleanly);
                break;
            case 6:
                Mark("power lost on all members");
                Cluster.Members.ForEach(each => BringDown("power lost", each, each.LosePower));
                break;
            case 7:
                Mark("cut off");
                Cluster.Wire.Isolate(member);
                Cluster.After(_faults.Next(4_000), Cluster.Wire.Heal);
                break;
            case 8:
                Mark("cut off in one direction");
                Cluster.Wire.Cut(member.Id, Cluster.Members[_faults.Next(Cluster.Members.Count)].Id);
                Cluster.After(_faults.Next(4_000), Cluster.Wire.Heal);
                break;
            case 9:
                Mark("leadership transferred");
                if (member.PausedMilliseconds == 0)
                {
                    member.Consensus?.Transfer(NodeId.None);
                }

                break;
            case 10:
                Mark("slow disk");
                member.LongestWriteMilliseconds = _faults.Next(600);
                Cluster.After(_faults.Next(4_000), () => member.LongestWriteMilliseconds = 2);
                SetClock(member);
                break;
            default:
                FailJournal(member);
                break;
        }
    }

    /// <summary>Sets a member's clock: decades off, slightly off, or synchronised again.</summary>
    private void SetClock(SteppedMember member)
    {
        // Always one draw: seeds that failed once must keep their faults.
        int draw = _faults.Next(-500, 500);
        switch (Math.Abs(draw) % 6)
        {
            case 0:
                Mark("clock in 1970");
                member.Time.SetToYear(1970);
                break;
            case 1:
                Mark("clock in 2080");
                member.Time.SetToYear(2080);
                break;
            case 2:
                (member.Time.Ahead, member.Time.IsSynchronised) = (TimeSpan.FromSeconds(draw / 2), false);
                break;
            default:
                (member.Time.Ahead, member.Time.IsSynchronised) = (TimeSpan.FromSeconds(draw / 25), true);
                break;
        }
    }

    /// <summary>Ends the process of a member that is well, and starts it again within three seconds.</summary>
    private void BringDown(string mark, SteppedMember member, Action end)
    {
        if (member.IsUp && member.Consensus!.Refusal is null)
        {
            Mark(mark);
            end();
            Rot(member);
            Cluster.After(50 + _faults.Next(3_000), () => StartIfOff(member));
        }
    }

    /// <summary>
    /// In a third of the runs, damages the journal of one member at a time: at most a minority may lose acknowledged
    /// entries.
    /// </summary>
    private void Rot(SteppedMember member)
    {
        foreach (var healed in _damaged.Keys.Where(IsHealed).ToList())
        {
            _damaged.Remove(healed);
            Mark("rot repaired");
        }

        if (_rot is not null && _damaged.Count == 0 && _rot.Next(3) == 0 && JournalRot.Inflict(member, _rot) is { } rot)
        {
            _damaged.Add(member, rot);
            Mark("rot");
        }
    }

    private static bool IsHealed(SteppedMember member) =>
        member.Store?.Journal is { } journal
        && !journal.Recovery.MayHaveAcknowledged.IsLaterThan(new EntryPosition(journal.LastTerm, journal.LastIndex));

    /// <summary>Starts a member that is off, unless it was removed for good.</summary>
    public void StartIfOff(SteppedMember member)
    {
        if (member.IsUp || !Cluster.Members.Contains(member))
        {
            return;
        }

        // The owner makes space first.
        member.Disk.ClearFaults();
        member.MakeRoom();
        try
        {
            member.Open();
        }
        catch (JournalDamagedException) when (_damaged.TryGetValue(member, out var rot))
        {
            Mark("rot that stops a member");
            rot.Undo();
            member.Open();
        }

        Mark($"journal {member.Store!.Journal.Recovery.Label}");
    }

    /// <summary>Makes a journal call fail. The node enters diagnosis mode and its owner restarts it.</summary>
    private void FailJournal(SteppedMember member)
    {
        Mark("journal failed");
        member.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.InputOutput)
            {
                Calls = _faults.Next(2) == 0 ? DiskCalls.Sync : DiskCalls.Write,
                PathContains = "/journal-",
            }
        );
        Cluster.After(1_500 + _faults.Next(1_500), () => Restart(member));
    }

    /// <summary>Restarts a member that is in diagnosis mode.</summary>
    public static void Restart(SteppedMember member)
    {
        if (member is { IsUp: true, Consensus.Refusal: not null })
        {
            member.LosePower();
            member.MakeRoom();
            member.Open();
        }
    }

    private void Heal()
    {
        _clients.ForEach(client => client.IsStopped = true);
        _deleting?.IsStopped = true;
        _further.End();
        Cluster.Wire.Heal();
        Cluster.Wire.Faults = new WireFaults();
        foreach (var member in Cluster.Members)
        {
            member.Disk.ClearFaults();
            member.LongestWriteMilliseconds = 2;
            StartIfOff(member);
            Restart(member);
        }

        Cluster.RunUntil(
            () => _clients.TrueForAll(client => client.HasEnded) && _deleting?.HasEnded is not false,
            "all clients have their last answers"
        );

        // Power cuts and restarts that were scheduled earlier may still occur.
        Cluster.RunFor(milliseconds: 4_000);
        Cluster.Wire.Heal();
        foreach (var member in Cluster.Members)
        {
            StartIfOff(member);
        }
    }

    private void Check()
    {
        Cluster.AwaitEqual();
        if (_deleting is not null)
        {
            Cluster.Members.ForEach(_deleting.Check);
            foreach (var (mark, times) in _deleting.Done)
            {
                Mark(mark, times);
            }
        }

        var history = _clients.SelectMany(client => client.History).ToList();
        foreach (
            string document in history.Select(operation => operation.Key).Distinct(StringComparer.Ordinal).ToList()
        )
        {
            var (value, etag) = Cluster.A.Peek(document);
            history.Add(
                new Operation
                {
                    Invoked = Cluster.Now,
                    Completed = Cluster.Now + 1,
                    Kind = OperationKind.Get,
                    Outcome = Outcome.Done,
                    Key = document,
                    Value = value,
                    Etag = etag,
                }
            );
        }

        Report = HistoryReport.Of(history);
        Assert.True(Report.Violations.Count == 0, Report.ToString());
        Assert.Equal(0, Report.Undecided);
        var logTimes = _clients.SelectMany(client => client.LogTimes).Distinct().Order().ToList();
        Assert.True(
            logTimes
                .Zip(logTimes.Skip(1))
                .All(pair => pair.First.LogTicks < pair.Second.LogTicks || pair.First.Index == pair.Second.Index),
            "log time fell"
        );
        long latest = logTimes.Count == 0 ? 0 : logTimes.Max(time => time.LogTicks);
        Assert.True(
            latest < Cluster.Time.GetUtcNow().UtcTicks + (6 * TimeSpan.TicksPerMinute),
            $"log time ran ahead, to {new DateTime(latest):O}"
        );
        Assert.True(Cluster.Wire.AgreedThrough > 0, "members compared nothing");
        Mark("states fetched", Cluster.Wire.StatesFetched);
        Mark("changes fetched", Cluster.Wire.ChangesFetched);
        Mark("terms", (int)Cluster.Leader!.Consensus!.Term);
        Mark("leaders", Cluster.Observer!.Leaders);
        Mark("commits", Cluster.Observer.Commits);
    }

    /// <summary>Counts an event of a run, so that tests can check that it occurs at all.</summary>
    public void Mark(string mark, int count = 1) => Marks[mark] = Marks.GetValueOrDefault(mark) + count;
}
