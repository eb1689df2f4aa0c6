using System.Buffers;
using System.Collections.Concurrent;
using Rookery.Cluster.Identity;
using Rookery.Cluster.Peers;
using Rookery.Cluster.Tests.Identity;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>Commands that a member forwards to the leader.</summary>
public sealed class ForwardTests : IDisposable
{
    private readonly ClusterAuthority _authority = TestAuthority.Create();

    public void Dispose() => _authority.Dispose();

    [Fact]
    public async Task Each_caller_gets_the_outcome_of_its_own_command()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        await Task.WhenAll(
            Enumerable
                .Range(0, 200)
                .Select(async number =>
                {
                    byte[] content = Samples.Bytes(new Random(number), 1 + (number * 97));
                    var outcome = await a.Network.ForwardAsync(b.Node, CreateCommand(content), CancellationToken.None);
                    Assert.Equal(content.Length, outcome[0].Etag);
                    using var document = outcome[0].Document!;
                    Assert.Equal(content, document.Written.ToArray());
                })
        );
    }

    /// <summary>An older version gets no term: an unknown packet would close its connection.</summary>
    [Theory]
    [InlineData(PeerProtocol.FeatureLevel, true, 7)]
    [InlineData(PeerProtocol.FeatureLevel, false, 7)]
    [InlineData(PeerProtocol.ForwardInTermSince - 1, true, 0)]
    [InlineData(PeerProtocol.ForwardInTermSince - 1, false, 0)]
    public async Task A_forwarded_command_names_the_term_to_propose_in(int level, bool wantsReceipt, long term)
    {
        await using var a = await StartAsync("A1", PeerProtocol.FeatureLevel);
        await using var b = await StartAsync("B2", level);
        a.Network.SetPeers([b.Address]);
        await Eventually.HoldsAsync(() => a.Network.Reaches(b.Node), "A reaches B");
        (long Term, bool WantsReceipt)? received = null;
        b.Receiver.Propose = (command, _) =>
        {
            received = (command.LeaderTerm, command.WantsReceipt);
            return TestReceiver.Echo(command);
        };
        using var command = CreateCommand([1, 2, 3]);
        (command.LeaderTerm, command.WantsReceipt) = (7, wantsReceipt);
        var outcome = await a.Network.ForwardAsync(b.Node, command, CancellationToken.None);
        using var document = outcome[0].Document!;
        Assert.Equal([1, 2, 3], document.Written.ToArray());
        Assert.Equal((term, wantsReceipt), received);

        Task<TestMember> StartAsync(string node, int level) =>
            TestMember.StartAsync(
                TestMember.Hello(node) with
                {
                    FeatureLevel = level,
                },
                TestMember.TrustOf(_authority, node)
            );
    }

    [Fact]
    public async Task A_rejection_and_an_exception_at_the_leader_reach_the_caller_as_rejections()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        var refusal = new Rejection(RejectionKind.ConcurrencyConflict, "It changed.")
        {
            DocumentId = "users/1",
            Expected = "A:1-x",
            Actual = "A:2-x",
            Operation = 0,
        };
        b.Receiver.Propose = (command, _) =>
        {
            command.Dispose();
            return new ValueTask<CommandOutcome>(new CommandOutcome(refusal));
        };
        Assert.Equal(
            refusal,
            (await a.Network.ForwardAsync(b.Node, CreateCommand([1]), CancellationToken.None)).Rejection
        );

        b.Receiver.Propose = static (_, _) => throw new CommandFormatException("It does not decode.");
        Assert.Equal(
            RejectionKind.Invalid,
            (await a.Network.ForwardAsync(b.Node, CreateCommand([1]), CancellationToken.None)).Rejection!.Kind
        );

        b.Receiver.Propose = static (_, _) => throw new InvalidOperationException("A fault.");
        Assert.Equal(
            RejectionKind.OutcomeUnknown,
            (await a.Network.ForwardAsync(b.Node, CreateCommand([1]), CancellationToken.None)).Rejection!.Kind
        );
        Assert.True(b.HasLogged("A fault."));
    }

    [Fact]
    public async Task A_slow_command_does_not_delay_the_outcomes_of_others()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        using var mayPropose = new ManualResetEventSlim();
        b.Receiver.Propose = (command, _) =>
        {
            // The first command, which begins with 1, is slow.
            if (command.Written.Span[0] == 1)
            {
                mayPropose.Wait(TimeSpan.FromMinutes(3), CancellationToken.None);
            }

            return TestReceiver.Echo(command);
        };
        var first = a.Network.ForwardAsync(b.Node, CreateCommand([1]), CancellationToken.None).AsTask();
        var second = a.Network.ForwardAsync(b.Node, CreateCommand([2]), CancellationToken.None).AsTask();
        (await second.WaitAsync(TimeSpan.FromMinutes(1)))[0].Document!.Dispose();
        Assert.False(first.IsCompleted);
        mayPropose.Set();
        (await first)[0].Document!.Dispose();
    }

    [Fact]
    public async Task A_broken_connection_answers_unsent_commands_with_no_leader_and_sent_ones_as_unknown()
    {
        await using var a = await TestMember.StartAsync(TestMember.Hello("A1"), TestMember.TrustOf(_authority, "A1"));
        var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(_authority, "B2"));
        Assert.Equal(
            RejectionKind.NoLeader,
            (await a.Network.ForwardAsync(b.Node, CreateCommand([1]), CancellationToken.None)).Rejection!.Kind
        );
        Assert.False(a.Network.Reaches(b.Node));
        a.Network.SetPeers([b.Address]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "A reaches B");
        Assert.True(a.Network.Reaches(b.Node));
        var heldCommands = HoldCommands(b);
        var waiting = a.Network.ForwardAsync(b.Node, CreateCommand([1]), CancellationToken.None);
        await Eventually.HoldsAsync(() => heldCommands.Count == 1, "B has the command");
        await b.DisposeAsync();
        Assert.Equal(RejectionKind.OutcomeUnknown, (await waiting).Rejection!.Kind);
        Assert.False(a.Network.Reaches(b.Node));
        Assert.Equal(
            RejectionKind.NoLeader,
            (await a.Network.ForwardAsync(b.Node, CreateCommand([1]), CancellationToken.None)).Rejection!.Kind
        );
    }

    [Fact]
    public async Task A_caller_that_gives_up_after_sending_gets_an_unknown_outcome()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        var heldCommands = HoldCommands(b);
        using var cancel = new CancellationTokenSource();
        var waiting = a.Network.ForwardAsync(b.Node, CreateCommand([1]), cancel.Token);
        await Eventually.HoldsAsync(() => heldCommands.Count == 1, "B has the command");
        await cancel.CancelAsync();
        Assert.Equal(RejectionKind.OutcomeUnknown, (await waiting).Rejection!.Kind);

        // The late answer has no effect.
        RefuseHeld(heldCommands);
        b.Receiver.Propose = static (command, _) => TestReceiver.Echo(command);
        var next = await a.Network.ForwardAsync(b.Node, CreateCommand([1, 2]), CancellationToken.None);
        Assert.Equal(2, next[0].Etag);
        next[0].Document!.Dispose();
    }

    [Fact]
    public async Task Callers_wait_while_8_MiB_are_in_flight_and_may_give_up()
    {
        const int Commands = 20;
        // A's clock does not advance, so nothing times out.
        await using var a = await TestMember.StartAsync(
            TestMember.Hello("A1"),
            TestMember.TrustOf(_authority, "A1"),
            time: new SimulatedTimeProvider()
        );
        await using var b = await TestMember.StartAsync(TestMember.Hello("B2"), TestMember.TrustOf(_authority, "B2"));
        a.Network.SetPeers([b.Address]);
        await Eventually.HoldsAsync(() => a.IsConnectedToAll, "A reaches B");
        var heldCommands = HoldCommands(b);
        byte[] content = new byte[1 << 20];
        var waiting = Enumerable
            .Range(0, Commands)
            .Select(_ => a.Network.ForwardAsync(b.Node, CreateCommand(content), CancellationToken.None).AsTask())
            .ToArray();

        // With their overhead, seven commands of 1 MiB fit into 8 MiB.
        await Eventually.HoldsAsync(() => heldCommands.Count == 7, "seven commands have arrived");
        using var cancel = new CancellationTokenSource();
        var impatient = a.Network.ForwardAsync(b.Node, CreateCommand(content), cancel.Token);
        await cancel.CancelAsync();
        Assert.Equal(RejectionKind.Canceled, (await impatient).Rejection!.Kind);
        int answered = 0;
        while (answered < Commands)
        {
            await Eventually.HoldsAsync(() => !heldCommands.IsEmpty, "another command arrives");
            Assert.InRange(heldCommands.Count, 1, 7);
            answered += RefuseHeld(heldCommands);
        }

        Assert.All(
            await Task.WhenAll(waiting),
            outcome => Assert.Equal(RejectionKind.Stopping, outcome.Rejection!.Kind)
        );
    }

    [Fact]
    public async Task A_command_of_32_MiB_is_sent_alone()
    {
        var members = await TestMember.StartAllAsync(_authority, "A1", "B2");
        await using var a = members[0];
        await using var b = members[1];
        b.Receiver.Propose = static (command, _) =>
        {
            int length = command.Length;
            command.Dispose();
            return new ValueTask<CommandOutcome>(
                new CommandOutcome(index: 1, logTimeTicks: 2, new OperationResult { Etag = length })
            );
        };
        Assert.Equal(
            32 << 20,
            (await a.Network.ForwardAsync(b.Node, CreateCommand(new byte[32 << 20]), CancellationToken.None))[0].Etag
        );
        Assert.Equal(
            RejectionKind.TooLarge,
            (await a.Network.ForwardAsync(b.Node, CreateCommand(new byte[40 << 20]), CancellationToken.None))
                .Rejection!
                .Kind
        );
    }

    [Fact]
    public async Task A_caller_is_answered_when_there_is_no_memory_for_its_outcome()
    {
        var queue = new OutgoingQueue(limitBytes: 1 << 16, TimeProvider.System);
        var table = new ForwardTable(queue, TimeProvider.System, knowsTerms: true);
        using var command = CreateCommand([1]);
        var waiting = table.ForwardAsync(command, CancellationToken.None).AsTask();

        // The number of the first command, and then the outcome, which cannot be read.
        using var body = new BodyReadOnce([1, 0, 0, 0, 0, 0, 0, 0, 0]);
        Assert.Throws<IOException>(() => table.Handle(PacketKind.Outcome, body.Bytes));
        Assert.Equal(RejectionKind.OutcomeUnknown, (await waiting.WaitAsync(TimeSpan.FromMinutes(1))).Rejection!.Kind);
    }

    /// <summary>Makes a member answer no forwarded command; the commands' outcomes are set later.</summary>
    private static ConcurrentQueue<TaskCompletionSource<CommandOutcome>> HoldCommands(TestMember member)
    {
        var heldCommands = new ConcurrentQueue<TaskCompletionSource<CommandOutcome>>();
        member.Receiver.Propose = (command, _) =>
        {
            command.Dispose();
            var outcome = new TaskCompletionSource<CommandOutcome>(TaskCreationOptions.RunContinuationsAsynchronously);
            heldCommands.Enqueue(outcome);
            return new ValueTask<CommandOutcome>(outcome.Task);
        };
        return heldCommands;
    }

    /// <summary>Refuses the held commands; returns their number.</summary>
    private static int RefuseHeld(ConcurrentQueue<TaskCompletionSource<CommandOutcome>> heldCommands)
    {
        int released = 0;
        for (; heldCommands.TryDequeue(out var outcome); released++)
        {
            outcome.SetResult(new CommandOutcome(new Rejection(RejectionKind.Stopping, "Stopping.")));
        }

        return released;
    }

    private static CommandBuffer CreateCommand(byte[] content)
    {
        var command = CommandBuffer.Rent(content.Length);
        command.Write(content);
        return command;
    }

    /// <summary>Bytes of which the second read fails.</summary>
    private sealed class BodyReadOnce(byte[] bytes) : MemoryManager<byte>
    {
        private bool _isRead;

        public ReadOnlyMemory<byte> Bytes => CreateMemory(bytes.Length);

        public override Span<byte> GetSpan()
        {
            bool isFirst = !_isRead;
            _isRead = true;
            return isFirst ? bytes : throw new IOException("There is no memory.");
        }

        public override MemoryHandle Pin(int elementIndex = 0) => throw new NotSupportedException();

        public override void Unpin() => throw new NotSupportedException();

        protected override void Dispose(bool disposing) { }
    }
}
