using Rookery.Raft;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>Faults that only some seeds have.</summary>
[Flags]
internal enum FurtherFaultKinds
{
    None = 0,

    /// <summary>Processes pause for up to 8 s; then all waiting messages arrive at once.</summary>
    Pauses = 1,

    /// <summary>Journal syncs take 1 to 10 s; some members lose power meanwhile.</summary>
    Stalls = 2,

    /// <summary>Disks fill, up to the reserve or to the last byte, and have space again.</summary>
    FullDisks = 4,

    /// <summary>Members join, are promoted, demoted and removed.</summary>
    Changes = 8,
}

/// <summary>
/// Faults in addition to those of <see cref="HostRun"/>. They have a separate random sequence and separate events, so
/// they also occur while a disk stalls. Only the last two digits of the seed decide whether a run has them, so older
/// failing seeds and the known ones below 11 keep their faults.
/// </summary>
internal sealed class FurtherFaults(SteppedCluster cluster, HostRun run, int seed)
{
    // Pairs grow to three members and shrink to one voter.
    private readonly (int MaxMembers, int MinVoters) _bounds = IsPair(seed) ? (3, 1) : (6, 3);
    private readonly Random _random = new(seed * 43);

    // The mean number of faults of each kind in a second; membership changes are twice as frequent.
    private readonly double _perSecond = 0.5 + (seed % 7 * 0.25);
    private int _nextMemberNumber = cluster.Members.Count;
    private bool _isOver;

    /// <summary>
    /// Whether a seed's cluster begins with two voters. Nothing is written while either is off, and journals are not
    /// damaged, because one of two is not a minority.
    /// </summary>
    public static bool IsPair(int seed) => seed > 10 && seed % 20 is 8 or 9;

    /// <summary>Returns the faults of a seed.</summary>
    public static FurtherFaultKinds Of(int seed) =>
        seed < 11
            ? FurtherFaultKinds.None
            : (seed % 10) switch
            {
                9 when IsPair(seed) => FurtherFaultKinds.Changes,
                1 => FurtherFaultKinds.Pauses,
                2 => FurtherFaultKinds.Stalls,
                3 => FurtherFaultKinds.FullDisks,
                6 => FurtherFaultKinds.Changes,
                7 => FurtherFaultKinds.Pauses
                    | FurtherFaultKinds.Stalls
                    | FurtherFaultKinds.FullDisks
                    | FurtherFaultKinds.Changes,
                _ => FurtherFaultKinds.None,
            };

    public void Begin()
    {
        foreach (
            var kind in new[]
            {
                FurtherFaultKinds.Pauses,
                FurtherFaultKinds.Stalls,
                FurtherFaultKinds.FullDisks,
                FurtherFaultKinds.Changes,
            }.Where(kind => Of(seed).HasFlag(kind))
        )
        {
            Plan(kind);
        }

        if (Of(seed).HasFlag(FurtherFaultKinds.Changes))
        {
            ShutDownRemovedMembers();
        }
    }

    /// <summary>Ends the faults and makes space.</summary>
    public void End()
    {
        _isOver = true;
        foreach (var member in cluster.Members)
        {
            member.Pause(0);
            member.StallNextSync(0);
            member.MakeRoom();
        }
    }

    // The times between faults are distributed exponentially, so each moment is equally likely.
    private void Plan(FurtherFaultKinds kind) =>
        cluster.After(
            -Math.Log(1 - _random.NextDouble())
                * 1000
                / (kind == FurtherFaultKinds.Changes ? 2 * _perSecond : _perSecond),
            () =>
            {
                if (!_isOver)
                {
                    CauseFault(kind);
                    Plan(kind);
                }
            }
        );

    private void CauseFault(FurtherFaultKinds kind)
    {
        if (kind == FurtherFaultKinds.Changes)
        {
            Change();
            return;
        }

        var member = _random.Next(3) == 0 ? cluster.Leader ?? ChooseMember() : ChooseMember();
        if (!member.IsUp || member.PausedMilliseconds > 0)
        {
            return;
        }

        switch (kind)
        {
            case FurtherFaultKinds.Pauses:
                run.Mark("paused");
                member.Pause(100 * Math.Pow(80, _random.NextDouble())); // 100 ms to 8 s
                break;
            case FurtherFaultKinds.Stalls:
                Stall(member);
                break;
            default:
                Fill(member);
                break;
        }
    }

    private void Stall(SteppedMember member)
    {
        if (cluster.Members.Find(static each => each.IsStalled) is { } stalled && _random.Next(2) == 0)
        {
            run.Mark("power lost in a stall");
            stalled.LosePower();
            cluster.After(50 + _random.Next(3_000), () => run.StartIfOff(stalled));
        }
        else if (!member.IsStalled)
        {
            run.Mark("disk stalled"); // for 1 to 10 s
            member.StallNextSync(1_000 + _random.Next(9_000));
        }
    }

    /// <summary>
    /// Fills a disk. Up to the reserve, writes that grow the data are refused. Up to the last byte, the journal fails,
    /// and the operator restarts the member when there is space.
    /// </summary>
    private void Fill(SteppedMember member)
    {
        bool isFull = _random.Next(3) == 0;
        run.Mark(isFull ? "disk full" : "disk without spare room");
        member.SetSpareBytes(
            isFull ? -SteppedMember.ReserveBytes : -_random.Next(1, (int)SteppedMember.ReserveBytes / 2)
        );
        cluster.After(
            500 + _random.Next(5_000),
            () =>
            {
                member.MakeRoom();
                HostRun.Restart(member);
            }
        );
    }

    /// <summary>
    /// Requests a possible membership change: three to five voters with some learners, or one to three voters. The
    /// leader may refuse it.
    /// </summary>
    private void Change()
    {
        if (cluster.Leader is not { PausedMilliseconds: 0 } leader)
        {
            return;
        }

        var configuration = leader.Consensus!.ReadState().Configuration;
        if (configuration.Voters.Length == 1)
        {
            run.Mark("changes with one voter");
        }

        var member = cluster.Members[_random.Next(cluster.Members.Count)];
        switch (_random.Next(3))
        {
            case 0 when cluster.Members.Count < _bounds.MaxMembers:
                Join(leader);
                break;
            case 1 when configuration.IsVoter(member.Id) && configuration.Voters.Length > _bounds.MinVoters:
                RequestChange(leader, MemberChange.Learner, member, "demoted");
                break;
            case 2 when configuration.IsLearner(member.Id) && !configuration.Learners.IsEmpty:
                RequestChange(leader, MemberChange.Removed, member, "removed");
                break;
            default:
                if (cluster.Members.Find(each => configuration.IsLearner(each.Id)) is { } learner)
                {
                    RequestChange(leader, MemberChange.Voter, learner, "promoted");
                }

                break;
        }
    }

    private void Join(SteppedMember leader)
    {
        var added = new SteppedMember(cluster, _nextMemberNumber++, mayBegin: false);
        if (RequestChange(leader, MemberChange.Learner, added, "joined"))
        {
            cluster.Members.Add(added);
            added.Open();
        }
    }

    /// <summary>
    /// Shuts down members that were removed, and nodes whose join was lost with their leader's leadership. Waits until
    /// all members agree on the membership.
    /// </summary>
    private void ShutDownRemovedMembers()
    {
        cluster.After(1_000, ShutDownRemovedMembers);
        if (cluster.Leader?.Consensus!.ReadState() is not { ChangeIsPending: false } state)
        {
            return;
        }

        var removed = cluster.Members.FindAll(member => !state.Configuration.IsMember(member.Id));
        if (
            removed.Count == 0
            || !cluster
                .Members.Except(removed)
                .All(member =>
                    member.Consensus?.ReadState() is { ChangeIsPending: false } other
                    && other.ConfigurationIndex == state.ConfigurationIndex
                )
        )
        {
            return;
        }

        foreach (var member in removed)
        {
            run.Mark("removed members shut down");
            cluster.Members.Remove(member);
            if (member.IsUp)
            {
                member.Kill();
            }
        }
    }

    private bool RequestChange(SteppedMember leader, MemberChange change, SteppedMember member, string mark)
    {
        bool isAccepted = leader.Consensus!.ChangeMember(change, member.Id) == ChangeAnswer.Accepted;
        if (isAccepted)
        {
            run.Mark(mark);
        }

        return isAccepted;
    }

    private SteppedMember ChooseMember() => cluster.Members[_random.Next(cluster.Members.Count)];
}
