using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven.BulkInsert;
using Rookery.Simulation;

namespace Rookery.Server.Tests.Raven;

/// <summary>Proposed commands whose outcome is not known, for example because the leader failed.</summary>
public sealed class ProposalRetryTests
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly ScriptedConsensus _consensus = new();

    [Theory]
    [InlineData(RejectionKind.OutcomeUnknown)]
    [InlineData(RejectionKind.NoLeader)]
    public async Task A_keyed_command_is_sent_again_unchanged_until_its_outcome_is_known(RejectionKind lost)
    {
        _consensus.Answers = [lost, lost, null];
        Assert.Null((await RunAsync(IdempotencyKey.Create())).Rejection);
        Assert.Equal(3, _consensus.Proposed.Count);
        Assert.All(_consensus.Proposed, command => Assert.Equal(_consensus.Proposed[0], command));
    }

    [Fact]
    public async Task Without_a_key_nothing_is_sent_twice()
    {
        _consensus.Answers = [RejectionKind.OutcomeUnknown];
        Assert.Equal(RejectionKind.OutcomeUnknown, (await RunAsync(IdempotencyKey.None)).Rejection?.Kind);
        Assert.Single(_consensus.Proposed);
    }

    [Theory]
    [InlineData(RejectionKind.InsufficientSpace)]
    [InlineData(RejectionKind.Overloaded)]
    public async Task A_rejection_of_the_first_attempt_that_is_not_for_lack_of_a_leader_is_not_retried(
        RejectionKind kind
    )
    {
        _consensus.Answers = [kind];
        Assert.Equal(kind, (await RunAsync(IdempotencyKey.Create())).Rejection?.Kind);
    }

    [Fact]
    public async Task An_overloaded_leader_is_asked_again_if_an_earlier_one_may_have_stored_the_command()
    {
        _consensus.Answers = [RejectionKind.OutcomeUnknown, RejectionKind.Overloaded, RejectionKind.NoLeader, null];
        Assert.Null((await RunAsync(IdempotencyKey.Create())).Rejection);
        Assert.Equal(4, _consensus.Proposed.Count);
        Assert.All(_consensus.Proposed, command => Assert.Equal(_consensus.Proposed[0], command));
    }

    [Theory]
    [InlineData(RejectionKind.Overloaded)]
    [InlineData(RejectionKind.NoLeader)]
    [InlineData(RejectionKind.InsufficientSpace)]
    [InlineData(RejectionKind.Canceled)]
    public async Task A_refused_repetition_does_not_make_an_unknown_outcome_known(RejectionKind later)
    {
        _consensus.Answers = [RejectionKind.OutcomeUnknown, .. Enumerable.Repeat((RejectionKind?)later, 1000)];
        Assert.Equal(RejectionKind.OutcomeUnknown, (await RunAsync(IdempotencyKey.Create())).Rejection?.Kind);
    }

    [Fact]
    public async Task A_rejection_from_the_log_is_that_of_all_attempts()
    {
        _consensus.Answers = [RejectionKind.OutcomeUnknown, RejectionKind.PatchFailed];
        Assert.Equal(RejectionKind.PatchFailed, (await RunAsync(IdempotencyKey.Create())).Rejection?.Kind);
    }

    [Fact]
    public async Task Retries_end_after_a_long_time_without_a_leader()
    {
        _consensus.Answers = [.. Enumerable.Repeat((RejectionKind?)RejectionKind.NoLeader, 1000)];
        Assert.Equal(RejectionKind.NoLeader, (await RunAsync(IdempotencyKey.Create())).Rejection?.Kind);
        // Many attempts, and fewer than the 1000 answers.
        Assert.InRange(_consensus.Proposed.Count, 100, 900);
    }

    private async Task<CommandOutcome> RunAsync(IdempotencyKey key)
    {
        using var writer = new BatchWriter(CommandKind.BulkPut, 1, key);
        writer.Delete("users/1"u8, ExpectedChangeVector.None);
        var running = ProposalRetry.ProposeAsync(_consensus, writer.Complete(), _time, CancellationToken.None).AsTask();
        while (!running.IsCompleted)
        {
            // Only while the code waits: otherwise, on a busy machine, time would run out before its next attempt.
            if (_time.ActiveTimers > 0)
            {
                _time.Advance(TimeSpan.FromMilliseconds(50));
            }

            await Task.Yield();
        }

        return await running;
    }

    /// <summary>A consensus that answers each proposal as the test prescribes.</summary>
    private sealed class ScriptedConsensus : IConsensus
    {
        /// <summary>The rejection of each proposal in turn; null to accept it.</summary>
        public RejectionKind?[] Answers { get; set; } = [];

        /// <summary>The bytes of the proposed commands.</summary>
        public List<byte[]> Proposed { get; } = [];

        public Rejection? Refusal => null;

        public bool IsLeader => false;

        public string NodeTag => "B";

        public string? LeaderTag => null;

        public ClusterView View { get; } = new(1, []);

        public long Term => 1;

        public long AppliedIndex => 1;

        public ClusterTime Time => default;

        public ValueTask<CommandOutcome> ProposeAsync(CommandBuffer command, CancellationToken cancellationToken)
        {
            using (command)
            {
                Proposed.Add(command.Written.ToArray());
            }

            var answer = Answers[Proposed.Count - 1];
            return ValueTask.FromResult(
                answer is { } kind
                    ? new CommandOutcome(new Rejection(kind, "The test prescribes it."))
                    : new CommandOutcome(1, 1, new OperationResult())
            );
        }

        public ValueTask<bool> ReadBarrierAsync() => ValueTask.FromResult(true);

        public void EndWaitingReads()
        {
            // There are no waiting reads.
        }
    }
}
