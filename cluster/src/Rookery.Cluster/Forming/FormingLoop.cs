using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Membership;
using Rookery.Cluster.Peers;
using Rookery.Platform;

namespace Rookery.Cluster.Forming;

/// <summary>
/// The background loop that forms a cluster with other nodes. In each round it browses the network for announced nodes,
/// calls them, and acts on their answers. It ends when this node was admitted to a cluster or forms none.
/// </summary>
internal sealed class FormingLoop : IAsyncDisposable
{
    private const string FailureHeading = "This node could not go on to form a cluster";

    // Announcements are unauthenticated, so all work that they cause is limited.
    private const int MaxReportedStrangers = 100;

    private const int MaxNodesAsked = 32;
    private const int MaxStrangersPerRound = 3;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    private readonly FormingOptions _options;
    private readonly FormingNode _node;
    private readonly FormingSelf _self;
    private readonly Func<CancellationToken, Task<IReadOnlyList<AnnouncedNode>>> _browse;
    private readonly Func<PeerTrust> _trust;
    private readonly JoinTokens _tokens;
    private readonly IJoinRecordStore _recordStore;
    private readonly RateLimitedLog _log;
    private readonly UnknownPeerLog _strangerLog;
    private readonly Action<string> _logStatus;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _stopping = new();
    private readonly HashSet<string> _reportedStrangers = new(StringComparer.Ordinal);
    private readonly Lazy<FormingPhrase> _phrase;
    private Task? _loop;
    private string? _status;
    private bool _hasBegun;

    /// <summary>Makes the loop; <see cref="Start"/> starts it.</summary>
    /// <exception cref="IdentityException">The forming note cannot be read.</exception>
    public FormingLoop(
        FormingOptions options,
        NodeIdentity identity,
        IDisk disk,
        ClusterMemberOptions member,
        IJoinRecordStore recordStore,
        Func<bool> isUnclaimed,
        Func<PeerTrust> trust,
        JoinTokens tokens,
        Func<IReadOnlyList<string>> addresses,
        TimeProvider time
    )
    {
        _options = options;
        _self = new FormingSelf(identity.NodeId, identity.NodeName, identity.ClusterName, options.Expect);
        _node = new FormingNode(disk, member.DataDirectory, _self, isUnclaimed, time);
        _browse = member.Browse;
        _trust = trust;
        _tokens = tokens;
        _recordStore = recordStore;
        _log = new RateLimitedLog(member.Log, time);
        _strangerLog = new UnknownPeerLog(member.Log, time);
        _logStatus = member.Note;
        _time = time;
        _phrase = new Lazy<FormingPhrase>(
            () => FormingPhrase.Derive(options.ReadPhrase(), identity.ClusterName),
            LazyThreadSafetyMode.PublicationOnly
        );
        Route = new FormingRoute(_node, () => _phrase.Value, tokens, addresses, _strangerLog.Report);
    }

    /// <summary>
    /// Answers other forming nodes, even when this node forms no cluster any more: nodes that vowed to it must learn
    /// that their vows are released.
    /// </summary>
    public FormingRoute Route { get; }

    /// <summary>What the node waits for, in sentences; null before the first round.</summary>
    public string? Status => Volatile.Read(ref _status);

    public void Start() => _loop = SocketThreads.RunOnPoolAsync(RunAsync);

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        if (_loop is not null)
        {
            await _loop;
        }

        _stopping.Dispose();
    }

    private bool IsOver => _hasBegun && _node.Note.Step is FormingStep.Out or FormingStep.Admitted;

    private async Task RunAsync()
    {
        var rounds = new RetriedTasks(FailureHeading, _log.Report, _time);
        try
        {
            await rounds.TryAsync(RunRoundAsync, _stopping.Token);
            while (!IsOver)
            {
                await Task.Delay(Interval, _time, _stopping.Token);
                await rounds.TryAsync(RunRoundAsync, _stopping.Token);
            }

            _options.Announce(null);
            ReportStatus(_node.Describe([]));
            if (_node.Note.Step == FormingStep.Admitted)
            {
                _options.Admitted();
            }
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // The node is stopping.
        }
    }

    /// <summary>Runs one round. A failure appears in the status, and the next round tries again.</summary>
    private async Task RunRoundAsync()
    {
        try
        {
            _hasBegun = _hasBegun || await BeginAsync();
            if (_hasBegun && _node.Note.Step == FormingStep.Founded)
            {
                ReportMissingMembers();
            }
            else if (_hasBegun && !IsOver)
            {
                await CallOthersAsync();
            }
        }
        catch (Exception failure) when (!_stopping.IsCancellationRequested)
        {
            Volatile.Write(ref _status, $"{FailureHeading}: {failure.Message}");
            throw;
        }
    }

    /// <summary>Announces this node, unless it forms no cluster.</summary>
    /// <returns>Whether this node has caught up; if not, nothing is announced.</returns>
    private async Task<bool> BeginAsync()
    {
        // A node must catch up before it knows whether it was claimed.
        if (!await _recordStore.CatchUpAsync(_stopping.Token))
        {
            return false;
        }

        _node.Conclude([]);
        if (_node.Note.Step != FormingStep.Out)
        {
            _options.Announce(_phrase.Value.Mark);
        }

        return true;
    }

    private async Task CallOthersAsync()
    {
        // The candidate that this node has vowed to is called even if it is no longer announced as forming, to learn
        // whether it released the vow.
        string? founderId = _node.Note.Founder;
        AnnouncedNode[] announced = [.. await _browse(_stopping.Token)];

        // Shuffle, because only some nodes are called: otherwise many false announcements could keep real nodes out.
        RandomNumberGenerator.Shuffle<AnnouncedNode>(announced);
        var forming = announced
            .Where(node => !IsSame(node.NodeId, _self.NodeId))
            .Where(node => node.FormingMark is not null || IsSame(node.NodeId, founderId))
            .ToLookup(node => IsSame(node.FormingMark, _phrase.Value.Mark) || IsSame(node.NodeId, founderId));
        var withSamePhrase = forming[true]; // Another phrase may have the same short mark.
        var withOtherPhrase = forming[false];
        foreach (var stranger in withOtherPhrase)
        {
            if (_reportedStrangers.Count < MaxReportedStrangers && _reportedStrangers.Add(stranger.NodeId))
            {
                _strangerLog.Report(Describe(stranger));
            }
        }

        IGrouping<string, string>[] others =
        [
            .. withSamePhrase
                .GroupBy(static node => node.NodeId, static node => node.Address, StringComparer.Ordinal)
                .OrderByDescending(node => IsSame(node.Key, founderId))
                .Take(MaxNodesAsked),
        ];
        await AskAsync(others);
        if (founderId is null && _node.Note is { Step: FormingStep.Vowed, Founder: var founder })
        {
            // Tell the founder about the vow at once instead of in the next round.
            await AskAsync(others.Where(node => IsSame(node.Key, founder)));
        }

        // Name the strangers in the status, so that the operator sees that a node has another phrase.
        var strangers = withOtherPhrase
            .OrderBy(static node => node.NodeId, StringComparer.Ordinal)
            .ThenBy(static node => node.Address, StringComparer.Ordinal)
            .DistinctBy(static node => node.NodeId, StringComparer.Ordinal)
            .Take(MaxStrangersPerRound);
        string[] warnings = IsOver ? [] : [.. strangers.Select(Describe)];
        ReportStatus(string.Join(' ', [_node.Describe([]), .. warnings]));
    }

    private static string Describe(AnnouncedNode stranger) =>
        $"{stranger.Name} at {stranger.Address} forms another cluster than this node: it has another phrase, "
        + $"or another name for the cluster.";

    private async Task AskAsync(IEnumerable<IGrouping<string, string>> nodes)
    {
        var answers = await Task.WhenAll(nodes.Select(AskOneAsync));
        _node.Conclude([.. answers.OfType<FormingAnswer>()]);
    }

    /// <summary>Calls all addresses of a node at once, so that a silent address does not delay the others.</summary>
    private async Task<FormingAnswer?> AskOneAsync(IGrouping<string, string> node)
    {
        List<string> troubles = [];
        FormingAnswer? answer = null;
        using var answered = CancellationTokenSource.CreateLinkedTokenSource(_stopping.Token);
        var calls = node.Distinct(StringComparer.Ordinal)
            .Take(MemberAddress.MaxAddresses)
            .Select(address => AskAtAsync(address, node.Key, answered.Token))
            .ToArray();
        await foreach (var call in Task.WhenEach(calls))
        {
            var (received, trouble) = await call;
            if (received is not null)
            {
                answer ??= received;
                await answered.CancelAsync();
            }

            troubles.Add($"{trouble}");
        }

        if (answer is null)
        {
            _log.Report(
                $"Another node that forms a cluster was not reached. "
                    + $"{string.Join(' ', troubles.Order(StringComparer.Ordinal))}"
            );
        }

        return answer;
    }

    private async Task<(FormingAnswer? Answer, string? Trouble)> AskAtAsync(
        string address,
        string nodeId,
        CancellationToken cancellationToken
    )
    {
        try
        {
            var answer = await new FormingCaller(_trust, _phrase.Value).AskAsync(
                address,
                _node.CallTo(nodeId),
                cancellationToken
            );
            return IsSame(answer.NodeId, nodeId)
                ? (answer, null)
                : (null, $"{address}: another node, {answer.Name}, is there.");
        }
        catch (Exception trouble)
            when (!_stopping.IsCancellationRequested
                && trouble
                    is IOException
                        or HttpRequestException
                        or SocketException
                        or AuthenticationException
                        or PeerProtocolException
                        or OperationCanceledException
            )
        {
            string reason = trouble is OperationCanceledException ? "it is silent" : trouble.Message.TrimEnd('.');
            return (null, $"{address}: {reason}.");
        }
    }

    /// <summary>
    /// Reports the founded cluster's missing members. The rounds continue, because nodes that start later must learn
    /// that the cluster exists, so that they form no second cluster.
    /// </summary>
    private void ReportMissingMembers()
    {
        string[] namesOfMissing =
        [
            .. _node.Note.Members.Where(member => !_tokens.IsUsed(member.Secret)).Select(static member => member.Name),
        ];
        ReportStatus(_node.Describe(namesOfMissing));
    }

    private static bool IsSame(string? first, string? second) => string.Equals(first, second, StringComparison.Ordinal);

    private void ReportStatus(string status)
    {
        if (!IsSame(Status, status))
        {
            Volatile.Write(ref _status, status);
            _logStatus(status);
        }
    }
}
