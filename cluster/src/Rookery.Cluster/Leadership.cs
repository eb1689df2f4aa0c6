using Rookery.Raft;

namespace Rookery.Cluster;

/// <summary>
/// The leader and the configuration as of the core's last step. Requests and connections read them without the lock.
/// </summary>
/// <remarks>
/// <see cref="Publish"/> is called under the lock of <see cref="RaftHost"/>. The other members may be called from any
/// thread, unless their summary says "under the lock".
/// </remarks>
internal sealed class Leadership(RaftHost host)
{
    private Configuration _configuration = host.Core.Configuration;
    private long _leader;
    private long _readyIndex = long.MaxValue;
    private long _stamp;
    private long _seenConfigurationIndex;
    private bool _isLeader;
    private bool _isTransferring;

    /// <summary>The leader; none when this node knows none.</summary>
    public NodeId Leader => new(Volatile.Read(ref _leader));

    /// <summary>The newest configuration.</summary>
    public Configuration Configuration => Volatile.Read(ref _configuration);

    /// <summary>A number that grows with each change of leader or members.</summary>
    public long Stamp => Volatile.Read(ref _stamp);

    /// <summary>Whether the core is leader. It may propose only once <see cref="IsReady"/> is true too.</summary>
    public bool IsLeader => Volatile.Read(ref _isLeader);

    /// <summary>
    /// The index of the first entry of this leader's term; <see cref="long.MaxValue"/> while this node does not lead.
    /// </summary>
    public long ReadyIndex => Volatile.Read(ref _readyIndex);

    /// <summary>
    /// Whether this node leads and has applied the first entry of its term. It then has applied all entries committed
    /// before that term.
    /// </summary>
    public bool IsReady => host.Progress.Applied >= ReadyIndex && !host.Progress.IsBlocked;

    /// <summary>Whether this node may propose: it is ready, and no leadership transfer is running.</summary>
    public bool MayPropose => IsReady && !Volatile.Read(ref _isTransferring);

    /// <summary>
    /// Whether this node is the only member. False for a damaged log, which may lack later configurations. Under the
    /// lock.
    /// </summary>
    public bool IsAlone =>
        !host.Core.IsDamaged
        && host.Core.Configuration.Voters.Length == 1
        && host.Core.Configuration.Learners.IsEmpty
        && host.Core.Configuration.IsVoter(host.Self);

    /// <summary>
    /// Whether other members may need entries of this node's journal. False for the only member, whose segments are
    /// then reused at once: writes to a fresh segment cost twice their bytes. A node that joins later starts from a
    /// snapshot. Under the lock.
    /// </summary>
    public bool MayBeAskedForEntries => host.Options.Network is not null && !IsAlone;

    /// <summary>
    /// When this node lost leadership, in microseconds of <see cref="RaftHost.Now"/>; null when it leads again, or once
    /// its uncommitted entries were refused. Under the lock.
    /// </summary>
    public long? LostAt { get; private set; }

    /// <summary>Clears <see cref="LostAt"/>, because the uncommitted entries were refused. Under the lock.</summary>
    public void ForgetLoss() => LostAt = null;

    /// <summary>Publishes the changes of the last step. Under the lock.</summary>
    public LeadershipChange Publish()
    {
        var core = host.Core;
        var change = LeadershipChange.None;
        Volatile.Write(ref _configuration, core.Configuration);
        foreach (var appended in host.Output.Made)
        {
            if (appended.Type == EntryType.NoOp)
            {
                Volatile.Write(ref _readyIndex, appended.Index);
            }
            else
            {
                change |= LeadershipChange.ConfigurationProposed;
            }
        }

        bool wasTransferring = _isTransferring;
        Volatile.Write(ref _isTransferring, core.IsTransferring);
        if (wasTransferring && !_isTransferring)
        {
            change |= LeadershipChange.TransferEnded;
        }

        if (host.Output.LeadershipChanged || core.ConfigurationIndex != _seenConfigurationIndex)
        {
            _seenConfigurationIndex = core.ConfigurationIndex;
            Volatile.Write(ref _stamp, _stamp + 1);
            change |= LeadershipChange.RoleOrMembers;
        }

        return host.Output.LeadershipChanged ? change | PublishRole(core) : change;
    }

    private LeadershipChange PublishRole(RaftCore core)
    {
        bool wasLeader = _isLeader;
        bool isLeader = core.Role == Role.Leader;
        Volatile.Write(ref _leader, core.Leader.Value);
        if (wasLeader && !isLeader)
        {
            Volatile.Write(ref _readyIndex, long.MaxValue);
        }

        Volatile.Write(ref _isLeader, isLeader);
        if (isLeader)
        {
            LostAt = null;
        }
        else if (wasLeader)
        {
            LostAt = host.Now;
        }

        return LeadershipChange.Role;
    }
}

/// <summary>The changes of one step to leader and configuration.</summary>
[Flags]
internal enum LeadershipChange
{
    /// <summary>No change.</summary>
    None = 0,

    /// <summary>This node proposed a configuration, so the cluster may have other members now.</summary>
    ConfigurationProposed = 1,

    /// <summary>A leadership transfer ended: waiting commands may be proposed.</summary>
    TransferEnded = 2,

    /// <summary>Leader, term or members may have changed.</summary>
    RoleOrMembers = 4,

    /// <summary>Leader or term may have changed.</summary>
    Role = 8,
}
