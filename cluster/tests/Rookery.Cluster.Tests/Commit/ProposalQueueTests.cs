using Rookery.Cluster.Commit;
using Rookery.Documents.Commands;

namespace Rookery.Cluster.Tests.Commit;

/// <summary>
/// The queue between callers that propose and the journal thread. The write turn is the right to write the queued
/// proposals; a caller may take it while the thread sleeps.
/// </summary>
public sealed class ProposalQueueTests
{
    private bool _isStopping;

    [Fact]
    public void Only_one_caller_gets_the_turn_and_only_while_the_thread_sleeps()
    {
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        Assert.False(EnqueueProposal(queue, mayTakeTurn: true));
        MoveAll(queue);
        var thread = StartSleepingThread(queue);
        Assert.True(EnqueueProposal(queue, mayTakeTurn: true));
        Assert.False(EnqueueProposal(queue, mayTakeTurn: true));
        Assert.Equal(2, MoveAll(queue).Count);
        queue.ReleaseTurn(ref _isStopping);
        Assert.True(EnqueueProposal(queue, mayTakeTurn: true));
        Assert.True(thread.IsAlive);
        queue.ReleaseTurn(ref _isStopping);
        thread.Join();
    }

    [Fact]
    public void Proposals_that_a_caller_does_not_write_wake_the_journal_thread()
    {
        bool hasOtherWork = false;
        var queue = new ProposalQueue { HasOtherWork = () => hasOtherWork };
        var thread = StartSleepingThread(queue);
        Assert.True(EnqueueProposal(queue, mayTakeTurn: true));
        MoveAll(queue);
        hasOtherWork = true;
        queue.ReleaseTurn(ref _isStopping);
        thread.Join();
    }

    [Fact]
    public void The_thread_wakes_to_stop_even_while_a_caller_has_the_turn()
    {
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        var thread = StartSleepingThread(queue);
        Assert.True(EnqueueProposal(queue, mayTakeTurn: true));
        MoveAll(queue);
        Volatile.Write(ref _isStopping, true);
        queue.Wake();
        queue.ReleaseTurn(ref _isStopping);
        thread.Join();
    }

    [Fact]
    public void The_wait_for_callers_ends_with_the_last_expected_proposal()
    {
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        int countAtWake = 0;
        var thread = new Thread(() =>
        {
            queue.WaitForProposals(count: 3, milliseconds: 60_000, ref _isStopping);
            countAtWake = queue.Count;
        });
        thread.Start();
        for (int i = 0; i < 3; i++)
        {
            Assert.False(EnqueueProposal(queue, mayTakeTurn: true));
        }

        Assert.True(thread.Join(TimeSpan.FromSeconds(30)), "the wait ends with the third proposal, before its timeout");
        Assert.Equal(3, countAtWake);
        Assert.Equal(3, MoveAll(queue).Count);
    }

    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(false, false)]
    public void The_wait_for_callers_ends_for_other_work_and_for_a_stop(bool isStop, bool isEarly)
    {
        bool isDue = false;
        var queue = new ProposalQueue { HasOtherWork = () => Volatile.Read(ref isDue) };
        void Interrupt()
        {
            Volatile.Write(ref isStop ? ref _isStopping : ref isDue, true);
            queue.Wake();
        }

        if (isEarly)
        {
            Interrupt();
        }

        var thread = new Thread(() => queue.WaitForProposals(count: 3, milliseconds: 600_000, ref _isStopping));
        thread.Start();
        if (!isEarly)
        {
            AwaitSleep(thread);
            Interrupt();
        }

        Assert.True(thread.Join(TimeSpan.FromSeconds(60)), "the wait ends before its timeout");
    }

    [Fact]
    public void Each_proposal_of_concurrent_callers_is_taken_exactly_once()
    {
        const int Callers = 4;
        const int ProposalsPerCaller = 20_000;
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        int taken = 0;
        int activeTakers = 0;
        void TakeAssertingNoOther()
        {
            Assert.Equal(1, Interlocked.Increment(ref activeTakers));
            taken += MoveAll(queue).Count;
            Interlocked.Decrement(ref activeTakers);
        }

        var thread = new Thread(() =>
        {
            while (!Volatile.Read(ref _isStopping))
            {
                queue.WaitForTurn(ref _isStopping);
                TakeAssertingNoOther();
            }
        });
        thread.Start();
        Thread[] callers =
        [
            .. Enumerable
                .Range(0, Callers)
                .Select(caller => new Thread(() =>
                {
                    for (int i = 0; i < ProposalsPerCaller; i++)
                    {
                        if (EnqueueProposal(queue, mayTakeTurn: (i + caller) % 3 != 0))
                        {
                            TakeAssertingNoOther();
                            queue.ReleaseTurn(ref _isStopping);
                        }
                    }
                })),
        ];
        Array.ForEach(callers, static caller => caller.Start());
        Array.ForEach(callers, static caller => caller.Join());

        // The last proposals must be taken without further calls: a lost wake-up would hang here.
        while (queue.Count > 0)
        {
            Thread.Yield();
        }

        Volatile.Write(ref _isStopping, true);
        queue.Wake();
        thread.Join();
        Assert.Equal(Callers * ProposalsPerCaller, taken);
    }

    [Fact]
    public void A_closed_queue_returns_waiting_proposals_and_refuses_new_ones()
    {
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        EnqueueProposal(queue, mayTakeTurn: true);
        var waiting = new Queue<Proposal>();
        queue.CloseAndMoveAllTo(waiting);
        Assert.Single(waiting);
        var late = CreateProposal();
        Assert.False(queue.TryEnqueue(late, mayTakeTurn: true, out bool hasTurn));
        Assert.False(hasTurn);
        Assert.Equal(0, queue.Count);
        queue.CloseAndMoveAllTo(waiting);
        waiting.Enqueue(late);
        Assert.Equal(2, waiting.Count);
        foreach (var proposal in waiting)
        {
            proposal.ReleaseCommand();
        }
    }

    /// <summary>Queues a proposal; returns whether the caller got the write turn.</summary>
    private static bool EnqueueProposal(ProposalQueue queue, bool mayTakeTurn)
    {
        Assert.True(queue.TryEnqueue(CreateProposal(), mayTakeTurn, out bool hasTurn));
        return hasTurn;
    }

    // Any command will do: the queue does not read it.
    private static Proposal CreateProposal() =>
        Proposal.Rent(CommandEncoder.CreateDatabase("db", "0123456789012345678901"), operationCount: 1);

    /// <summary>Removes and returns all queued proposals.</summary>
    private static Queue<Proposal> MoveAll(ProposalQueue queue)
    {
        var taken = new Queue<Proposal>();
        queue.MoveAllTo(taken);
        foreach (var proposal in taken)
        {
            proposal.ReleaseCommand();
        }

        return taken;
    }

    /// <summary>
    /// Starts a thread that waits for the turn, like the journal thread, and ends when it gets the turn. Returns once
    /// the thread sleeps.
    /// </summary>
    private Thread StartSleepingThread(ProposalQueue queue)
    {
        var thread = new Thread(() => queue.WaitForTurn(ref _isStopping));
        thread.Start();
        AwaitSleep(thread);
        return thread;
    }

    private static void AwaitSleep(Thread thread) =>
        Assert.True(
            SpinWait.SpinUntil(
                () => thread.ThreadState.HasFlag(System.Threading.ThreadState.WaitSleepJoin),
                TimeSpan.FromSeconds(30)
            ),
            "the thread sleeps"
        );
}
