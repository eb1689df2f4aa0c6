using System.Collections.Concurrent;
using Rookery.Cluster.Tests.Simulation;
using Rookery.Crash.Tests;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Histories;
using Rookery.Raft;
using MemberChange = Rookery.Raft.MemberChange;
using Operation = Rookery.Histories.Operation;
using OperationKind = Rookery.Histories.OperationKind;

namespace Rookery.Cluster.Tests.Stress;

/// <summary>
/// Three members on real threads, with clients and faults from a seed (threads make their own random choices, so the
/// same seed is not the same run). In the end all members must be equal and contain everything acknowledged, and the
/// answers must have a valid order. Every wait has a limit; after it the run fails with a description of each member.
/// </summary>
internal sealed class StressRun(int seed) : IAsyncDisposable
{
    private const int Clients = 8;
    private static readonly TimeSpan WaitLimit = TimeSpan.FromSeconds(60);

    private readonly Random _faults = new(seed);
    private readonly StressNetwork _network = new();
    private readonly List<StressMember> _members = [];
    private readonly ConcurrentQueue<Operation> _history = new();
    private readonly ConcurrentDictionary<string, int> _marks = new(StringComparer.Ordinal);
    private volatile bool _isOver;

    /// <summary>The number of each kind of event.</summary>
    public IReadOnlyDictionary<string, int> Marks => _marks;

    private StressMember? Leader => _members.Find(member => member.Consensus is { IsLeader: true });

    /// <summary>Runs the members, clients and faults.</summary>
    /// <param name="duration">The duration of clients and faults.</param>
    public async Task RunAsync(TimeSpan duration)
    {
        await FormAsync();
        var clients = Enumerable.Range(1, Clients).Select(number => Task.Run(() => WorkAsync(number))).ToList();
        long start = TimeProvider.System.GetTimestamp();
        while (TimeProvider.System.GetElapsedTime(start) < duration)
        {
            await Task.Delay(_faults.Next(50, 500));
            await CauseFaultAsync();
            await CheckNoFailureAsync();
        }

        Heal();
        foreach (var member in _members.Where(member => member.Consensus is null))
        {
            await AwaitInTimeAsync(member.OpenAsync(), $"the start of {member}");
        }

        _isOver = true;
        await AwaitInTimeAsync(Task.WhenAll(clients), "the clients' last answers");
        await CheckAsync();
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var member in _members.Where(member => member.Consensus is not null))
        {
            await AwaitInTimeAsync(member.CloseAsync(losesPower: false), $"the stop of {member}");
        }
    }

    // Forms a cluster of three voters, with a database.
    private async Task FormAsync()
    {
        for (int i = 0; i < 3; i++)
        {
            _members.Add(new StressMember(_network, i));
            await _members[i].OpenAsync();
        }

        foreach (var change in new[] { MemberChange.Learner, MemberChange.Voter })
        {
            foreach (var member in _members.Skip(1))
            {
                await AwaitAsync(
                    () =>
                        Leader?.Consensus!.ChangeMember(change, member.Id)
                            is ChangeAnswer.Accepted
                                or ChangeAnswer.NothingToDo,
                    $"{change} {member}"
                );
            }
        }

        var creation = await AwaitInTimeAsync(
            _members[1]
                .Consensus!.ProposeAsync(
                    CommandEncoder.CreateDatabase("db", SteppedCluster.HistoryId),
                    CancellationToken.None
                )
                .AsTask(),
            "the database"
        );
        Assert.Null(creation.Rejection);
    }

    // Causes one random fault. Some last for a while, which is awaited; the others last until the next healing.
    private async Task CauseFaultAsync()
    {
        var member = _members[_faults.Next(_members.Count)];
        switch (_faults.Next(8))
        {
            case < 2:
                await RestartAsync(member);
                break;
            case 2:
                Mark("cut off");
                _network.Cut(member.Id, _members.Select(each => each.Id));
                await Task.Delay(_faults.Next(100, 1_500));
                _network.Heal();
                break;
            case 3:
                Mark("cut one way");
                _network.Between(member.Id, _members[_faults.Next(3)].Id).Cut();
                await Task.Delay(_faults.Next(100, 1_500));
                _network.Heal();
                break;
            case 4:
                Mark("handed over");
                Leader?.Consensus!.Transfer(NodeId.None);
                break;
            case 5:
                Mark("slow disk");
                member.Disk.MaxSyncMilliseconds = _faults.Next(5, 80);
                break;
            case 6:
                Mark("bad network");
                (_network.LossPercent, _network.MaxDelayMilliseconds) = (_faults.Next(5), _faults.Next(20));
                break;
            default:
                Heal();
                break;
        }
    }

    /// <summary>
    /// Restarts a member, usually after so long that the others' journals no longer have the entries that it lacks.
    /// Meanwhile leadership may change, and more faults may occur before it has caught up.
    /// </summary>
    private async Task RestartAsync(StressMember member)
    {
        bool losesPower = _faults.Next(2) == 0;
        Mark(losesPower ? "power lost" : "stopped");
        await AwaitInTimeAsync(member.CloseAsync(losesPower), $"the stop of {member}");
        await Task.Delay(_faults.Next(200, 2_000));
        await AwaitInTimeAsync(member.OpenAsync(), $"the start of {member}");
        if (_faults.Next(2) == 0)
        {
            await Task.Delay(_faults.Next(300));
            Mark("handed over to one that catches up");
            Leader?.Consensus!.Transfer(NodeId.None);
        }
    }

    private void Heal()
    {
        _network.Heal();
        (_network.LossPercent, _network.MaxDelayMilliseconds) = (0, 0);
        _members.ForEach(member => member.Disk.MaxSyncMilliseconds = 2);
    }

    // Reads and writes as one client, until the run is over.
    private async Task WorkAsync(int client)
    {
        var random = new Random((seed * 100) + client);
        string document = string.Empty;
        for (long sequence = 1; !_isOver; sequence++)
        {
            // Clients write through one member and read through another. They use few documents at a time, each with
            // few operations, so that their order can be searched.
            document = sequence % 20 == 1 ? $"users/{sequence / 20 % 7}-{client / 2}-{sequence / 20}" : document;
            var member = _members[random.Next(_members.Count)];
            if (member.Consensus is not { } consensus)
            {
                await Task.Delay(5);
            }
            else if (random.Next(4) == 0)
            {
                await ReadAsync(client, member, consensus, document);
            }
            else
            {
                await WriteAsync(
                    client,
                    consensus,
                    document,
                    (sequence * 100) + client,
                    random.Next(8) == 0 ? random.Next(30_000) : random.Next(2_000)
                );
            }
        }
    }

    private async Task ReadAsync(int client, StressMember member, RaftConsensus consensus, string document)
    {
        long invoked = Now();
        if (!await AwaitInTimeAsync(consensus.ReadBarrierAsync().AsTask(), $"a read through {member}"))
        {
            return;
        }

        try
        {
            if (member.Peek(document) is { } seen && ReferenceEquals(member.Consensus, consensus))
            {
                _history.Enqueue(
                    new Operation
                    {
                        Client = client,
                        Invoked = invoked,
                        Completed = Now(),
                        Kind = OperationKind.Get,
                        Outcome = Outcome.Done,
                        Key = document,
                        Value = seen.Value,
                        Etag = seen.Etag,
                    }
                );
                Mark("reads");
            }
        }
        catch (Exception) when (!ReferenceEquals(member.Consensus, consensus) || consensus.Refusal is not null)
        {
            // The member is stopping.
        }
    }

    private async Task WriteAsync(int client, RaftConsensus consensus, string document, long value, int padding)
    {
        var operation = new Operation
        {
            Client = client,
            Invoked = Now(),
            Kind = OperationKind.Put,
            Outcome = Outcome.Unknown,
            Key = document,
            Value = value,
        };
        var outcome = await AwaitInTimeAsync(
            Task.Run(() =>
                consensus
                    .ProposeAsync(SteppedCluster.PutOf(document, value, padding: padding), CancellationToken.None)
                    .AsTask()
            ),
            "a write"
        );
        switch (outcome.Rejection?.Kind)
        {
            case null:
                _history.Enqueue(operation with { Outcome = Outcome.Done, Completed = Now(), Etag = outcome[0].Etag });
                Mark("writes");
                break;
            case RejectionKind.OutcomeUnknown:
                _history.Enqueue(operation);
                Mark("writes of unknown outcome");
                break;
            default:
                _history.Enqueue(operation with { Outcome = Outcome.Refused, Completed = Now() });
                Mark("writes refused");
                await Task.Delay(5);
                break;
        }
    }

    // Checks that all members have the same rows, and that the answers to clients have a valid order.
    private async Task CheckAsync()
    {
        await AwaitAsync(
            () =>
                Leader is { } leader
                && _members.TrueForAll(member =>
                    member.Consensus!.AppliedIndex == leader.Consensus!.ReadState().LastIndex
                ),
            "all members have applied the leader's last entry"
        );
        await CheckNoFailureAsync();
        string rows = Rows.Text(_members[0].Store.Storage);
        foreach (var member in _members)
        {
            Assert.True(
                string.Equals(rows, Rows.Text(member.Store.Storage), StringComparison.Ordinal),
                $"seed {seed}: {member} has other rows than A"
            );
            Assert.Equal(_members[0].Store.Applier.OutcomeHash, member.Store.Applier.OutcomeHash);
            Mark("states installed", (int)member.StatesInstalled);
        }

        var history = _history.ToList();
        foreach (
            string document in history.Select(operation => operation.Key).Distinct(StringComparer.Ordinal).ToList()
        )
        {
            var (value, etag) = _members[0].Peek(document)!.Value;
            history.Add(
                new Operation
                {
                    Invoked = Now(),
                    Completed = Now() + 1,
                    Kind = OperationKind.Get,
                    Outcome = Outcome.Done,
                    Key = document,
                    Value = value,
                    Etag = etag,
                }
            );
        }

        var report = HistoryReport.Of(history);
        Assert.True(report.Violations.Count == 0, $"seed {seed}: {report}");
    }

    /// <summary>Fails when any thread met an exception.</summary>
    private async Task CheckNoFailureAsync()
    {
        if (_network.Failures.TryPeek(out var failure))
        {
            Assert.Fail($"seed {seed}: {failure} {await DescribeAsync()}");
        }

        foreach (var member in _members)
        {
            if (member.Consensus?.Refusal is { Kind: RejectionKind.Diagnosis })
            {
                Assert.Fail($"seed {seed}: {await DescribeAsync()}");
            }
        }
    }

    // Waits for a condition; fails when it does not hold within the limit.
    private async Task AwaitAsync(Func<bool> holds, string condition)
    {
        long start = TimeProvider.System.GetTimestamp();
        using var tick = new PeriodicTimer(TimeSpan.FromMilliseconds(20));
        while (!await Task.Run(holds).WaitAsync(WaitLimit))
        {
            await CheckNoFailureAsync();
            if (TimeProvider.System.GetElapsedTime(start) > WaitLimit)
            {
                Assert.Fail(
                    $"seed {seed}: expected within {WaitLimit.TotalSeconds} s: {condition}. "
                        + $"{await DescribeAsync()}"
                );
            }

            await tick.WaitForNextTickAsync();
        }
    }

    /// <summary>Waits for a task; fails when it does not end within the limit.</summary>
    private async Task AwaitInTimeAsync(Task task, string name)
    {
        try
        {
            await task.WaitAsync(WaitLimit);
        }
        catch (TimeoutException)
        {
            Assert.Fail($"seed {seed}: within {WaitLimit.TotalSeconds} s did not end: {name}. {await DescribeAsync()}");
        }
    }

    private async Task<T> AwaitInTimeAsync<T>(Task<T> task, string name)
    {
        await AwaitInTimeAsync((Task)task, name);
        return await task;
    }

    private async Task<string> DescribeAsync() =>
        "\n" + string.Join('\n', await Task.WhenAll(_members.Select(member => member.DescribeAsync())));

    private static long Now() => TimeProvider.System.GetTimestamp();

    private void Mark(string mark, int count = 1) => _marks.AddOrUpdate(mark, count, (_, before) => before + count);
}
