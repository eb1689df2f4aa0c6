using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// Who leads and who belongs to the cluster, as of the last step, published for reading without the lock: each request
/// and each connection asks.
/// </summary>
/// <remarks><see cref="See"/> is called under the lock of <see cref="RaftHost"/>; all else from any thread.</remarks>
internal sealed class Leadership(RaftHost host)
{
    private Configuration _configuration = host.Core.Configuration;
    private long _leader;
    private long _readyIndex = long.MaxValue;
    private long _stamp;
    private long _seenConfigurationIndex;
    private bool _isLeader;
    private bool _isTransferring;

    /// <summary>Who leads, as far as this node knows.</summary>
    public NodeId Leader => new(Volatile.Read(ref _leader));

    /// <summary>Who belongs to the cluster.</summary>
    public Configuration Configuration => Volatile.Read(ref _configuration);

    /// <summary>Grows with each change of leader or members.</summary>
    public long Stamp => Volatile.Read(ref _stamp);

    /// <summary>Whether the core leads. It may propose when <see cref="IsReady"/> too.</summary>
    public bool IsLeader => Volatile.Read(ref _isLeader);

    /// <summary>
    /// The index of the first entry of the term that this node leads in; the highest of all while it does not.
    /// </summary>
    public long ReadyIndex => Volatile.Read(ref _readyIndex);

    /// <summary>
    /// Whether this node leads and has applied the first entry of its term: it knows everything that was committed
    /// before.
    /// </summary>
    public bool IsReady => host.Progress.Applied >= ReadyIndex && !host.Progress.IsBlocked;

    /// <summary>Whether this node may propose: it is ready, and hands leadership to nobody.</summary>
    public bool MayPropose => IsReady && !Volatile.Read(ref _isTransferring);

    /// <summary>
    /// Whether this node is the only member. A log that lost its end to damage may not know the members that came
    /// later. Under the lock.
    /// </summary>
    public bool IsAlone =>
        !host.Core.IsDamaged
        && host.Core.Configuration.Voters.Length == 1
        && host.Core.Configuration.Learners.IsEmpty
        && host.Core.Configuration.IsVoter(host.Self);

    /// <summary>
    /// Whether members may ask for entries. Who joins a node alone begins with its state: until then its journal's
    /// segments are used again at once, because fresh ones cost each write its bytes twice. Under the lock.
    /// </summary>
    public bool MayBeAskedForEntries => host.Options.Network is not null && !IsAlone;

    /// <summary>
    /// When this node lost a leadership whose last frames may not be committed, unless it leads again or gave them up;
    /// null else. Under the lock.
    /// </summary>
    public long? LostAt { get; private set; }

    /// <summary>The frames of the lost leadership are given up. Under the lock.</summary>
    public void ForgetLoss() => LostAt = null;

    /// <summary>Publishes what the last step changed. Under the lock.</summary>
    public LeadershipChange See()
    {
        var core = host.Core;
        var change = LeadershipChange.None;
        Volatile.Write(ref _configuration, core.Configuration);
        foreach (var made in host.Output.Made)
        {
            if (made.Type == EntryType.NoOp)
            {
                Volatile.Write(ref _readyIndex, made.Index);
            }
            else
            {
                change |= LeadershipChange.ConfigurationMade;
            }
        }

        bool wasTransferring = _isTransferring;
        Volatile.Write(ref _isTransferring, core.IsTransferring);
        if (wasTransferring && !_isTransferring)
        {
            change |= LeadershipChange.TransferEnded;
        }

        if (host.Output.RoleChanged || core.ConfigurationIndex != _seenConfigurationIndex)
        {
            _seenConfigurationIndex = core.ConfigurationIndex;
            Volatile.Write(ref _stamp, _stamp + 1);
            change |= LeadershipChange.RoleOrMembers;
        }

        return host.Output.RoleChanged ? change | SeeRole(core) : change;
    }

    private LeadershipChange SeeRole(RaftCore core)
    {
        bool wasLeader = _isLeader;
        bool isLeader = core.Role == Role.Leader;
        Volatile.Write(ref _leader, core.Leader.Value);
        if (wasLeader && !isLeader)
        {
            Volatile.Write(ref _readyIndex, long.MaxValue);
        }

        Volatile.Write(ref _isLeader, isLeader);
        LostAt =
            wasLeader && !isLeader ? host.Now
            : isLeader ? null
            : LostAt;
        return LeadershipChange.Role;
    }
}

/// <summary>What a step changed of who leads and who belongs to the cluster.</summary>
[Flags]
internal enum LeadershipChange
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>This node made a configuration, so there may be other members from now on.</summary>
    ConfigurationMade = 1,

    /// <summary>A transfer of leadership ended: what waited for that may be proposed.</summary>
    TransferEnded = 2,

    /// <summary>Leader, term or members may have changed.</summary>
    RoleOrMembers = 4,

    /// <summary>Leader or term may have changed.</summary>
    Role = 8,
}
