using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;

namespace Rookery.Server.Tests.Raven;

/// <summary>A single node that poses as the second of three, and that may lag until a read barrier.</summary>
/// <param name="alone">Consensus of the single node.</param>
/// <param name="atBarrier">Runs before each barrier, as the leader's update.</param>
internal sealed class OneOfThree(IConsensusHost alone, Func<IConsensus, Task> atBarrier) : IConsensusHost
{
    private readonly TaskCompletionSource _readWaitIsOver = new();

    public Action<string>? DiagnosisModeEntered
    {
        get => alone.DiagnosisModeEntered;
        set => alone.DiagnosisModeEntered = value;
    }

    public Action? JournalWritten
    {
        get => alone.JournalWritten;
        set => alone.JournalWritten = value;
    }

    public Rejection? Refusal => alone.Refusal;

    public bool IsLeader => Leads && alone.IsLeader;

    /// <summary>Whether the node poses as the leader.</summary>
    public bool Leads { get; set; } = true;

    public string NodeTag => "B";

    public string? LeaderTag => "A";

    public bool HasLeader { get; set; } = true;

    public ClusterView View { get; } =
        new(
            Etag: 7,
            [
                CreateMember("A", port: 8081, isLeader: true),
                CreateMember("B", 8082, isSelf: true),
                CreateMember("C", port: 8083),
            ]
        );

    public long Term => alone.Term;

    public ClusterTime Time => alone.Time;

    public long AppliedIndex => alone.AppliedIndex;

    /// <summary>
    /// Rejection of all writes, and of read barriers if its kind is <see cref="RejectionKind.NoLeader"/>; null to store
    /// writes.
    /// </summary>
    public Rejection? WriteRejection { get; set; }

    /// <summary>What writes wait for before they are stored or rejected.</summary>
    public Task WritesMayContinue { get; set; } = Task.CompletedTask;

    /// <summary>Runs before each write is stored, to store what other members write meanwhile.</summary>
    public Func<IConsensus, Task> BeforeWrite { get; set; } = static _ => Task.CompletedTask;

    /// <summary>Number of proposed writes.</summary>
    public int ProposedWrites { get; private set; }

    public async ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken)
    {
        var continuation = WritesMayContinue;
        ProposedWrites++;
        await continuation;
        await BeforeWrite(alone);
        if (WriteRejection is not { } rejection)
        {
            return await alone.ProposeAsync(command, cancellationToken);
        }

        command.Dispose();
        return new CommandOutcome(rejection);
    }

    public async ValueTask<bool> ReadBarrierAsync()
    {
        if (await Task.WhenAny(atBarrier(alone), _readWaitIsOver.Task) == _readWaitIsOver.Task)
        {
            return false;
        }

        return WriteRejection is not { Kind: RejectionKind.NoLeader } && await alone.ReadBarrierAsync();
    }

    public void EndWaitingReads() => _readWaitIsOver.TrySetResult();

    public void Start() => alone.Start();

    public void Stop() => alone.Stop();

    public CommitStatistics ReadStatistics() => alone.ReadStatistics();

    /// <summary>Why the node takes no part in its cluster any more; null if it does.</summary>
    public string? WhyNoPart { get; set; }

    /// <summary>Name of this node as a member; null for the name that it has alone.</summary>
    public string? MemberName { get; init; }

    public ConsensusStatistics ReadCluster()
    {
        var cluster = alone.ReadCluster();
        if (MemberName is { } name)
        {
            cluster = cluster with
            {
                Members =
                [
                    .. cluster.Members.Select(member => member with { Member = member.Member with { Name = name } }),
                ],
            };
        }

        return WhyNoPart is { } why ? cluster with { Role = ConsensusStatistics.NoRole, Trouble = why } : cluster;
    }

    public void Dispose() => alone.Dispose();

    private static ClusterViewMember CreateMember(string tag, int port, bool isLeader = false, bool isSelf = false) =>
        new(tag, tag, "pi-" + tag, [$"http://127.0.0.1:{port}"], PublicUrl: null, IsVoter: true, isLeader, isSelf);
}
