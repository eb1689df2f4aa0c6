using Rookery.Cluster.Commit;
using Rookery.Documents.Commands;

namespace Rookery.Cluster.Tests.Commit;

public sealed class ProposalQueueTests
{
    private bool _isStopping;

    [Fact]
    public void Only_one_caller_gets_the_turn_and_only_while_the_thread_sleeps()
    {
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        Assert.False(Put(queue, mayTakeTurn: true));
        Take(queue);
        var thread = Sleeper(queue);
        Assert.True(Put(queue, mayTakeTurn: true));
        Assert.False(Put(queue, mayTakeTurn: true));
        Assert.Equal(2, Take(queue).Count);
        queue.ReleaseTurn(ref _isStopping);
        Assert.True(Put(queue, mayTakeTurn: true));
        Assert.True(thread.IsAlive);
        queue.ReleaseTurn(ref _isStopping);
        thread.Join();
    }

    [Fact]
    public void Proposals_that_a_caller_leaves_wake_the_thread()
    {
        bool isLeft = false;
        var queue = new ProposalQueue { HasOtherWork = () => isLeft };
        var thread = Sleeper(queue);
        Assert.True(Put(queue, mayTakeTurn: true));
        Take(queue);
        isLeft = true;
        queue.ReleaseTurn(ref _isStopping);
        thread.Join();
    }

    [Fact]
    public void The_thread_wakes_to_stop_even_while_a_caller_has_the_turn()
    {
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        var thread = Sleeper(queue);
        Assert.True(Put(queue, mayTakeTurn: true));
        Take(queue);
        Volatile.Write(ref _isStopping, true);
        queue.Wake();
        queue.ReleaseTurn(ref _isStopping);
        thread.Join();
    }

    [Fact]
    public void Waiting_for_callers_ends_with_the_last_of_them()
    {
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        int seen = 0;
        var thread = new Thread(() =>
        {
            queue.WaitForProposals(count: 3, milliseconds: 60_000, ref _isStopping);
            seen = queue.Count;
        });
        thread.Start();
        for (int i = 0; i < 3; i++)
        {
            Assert.False(Put(queue, mayTakeTurn: true));
        }

        Assert.True(thread.Join(TimeSpan.FromSeconds(30)));
        Assert.Equal(3, seen);
        Assert.Equal(3, Take(queue).Count);
    }

    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(false, false)]
    public void Waiting_for_callers_ends_for_other_work_and_for_a_stop(bool isStop, bool isEarly)
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

        Assert.True(thread.Join(TimeSpan.FromSeconds(60)));
    }

    [Fact]
    public void Each_proposal_of_concurrent_callers_is_taken_exactly_once()
    {
        const int Callers = 4;
        const int Each = 20_000;
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        int taken = 0;
        int takers = 0;
        void TakeAlone()
        {
            Assert.Equal(1, Interlocked.Increment(ref takers));
            taken += Take(queue).Count;
            Interlocked.Decrement(ref takers);
        }

        var thread = new Thread(() =>
        {
            while (!Volatile.Read(ref _isStopping))
            {
                queue.WaitForTurn(ref _isStopping);
                TakeAlone();
            }
        });
        thread.Start();
        Thread[] callers =
        [
            .. Enumerable
                .Range(0, Callers)
                .Select(caller => new Thread(() =>
                {
                    for (int i = 0; i < Each; i++)
                    {
                        if (Put(queue, mayTakeTurn: (i + caller) % 3 != 0))
                        {
                            TakeAlone();
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
        Assert.Equal(Callers * Each, taken);
    }

    [Fact]
    public void A_closed_queue_returns_waiting_proposals_and_refuses_new_ones()
    {
        var queue = new ProposalQueue { HasOtherWork = static () => false };
        Put(queue, mayTakeTurn: true);
        var rest = new Queue<Proposal>();
        queue.CloseAndMoveAllTo(rest);
        Assert.Single(rest);
        var late = NewProposal();
        Assert.False(queue.TryEnqueue(late, mayTakeTurn: true, out bool hasTurn));
        Assert.False(hasTurn);
        Assert.Equal(0, queue.Count);
        queue.CloseAndMoveAllTo(rest);
        rest.Enqueue(late);
        Assert.Equal(2, rest.Count);
        foreach (var proposal in rest)
        {
            proposal.ReleaseCommand();
        }
    }

    private static bool Put(ProposalQueue queue, bool mayTakeTurn)
    {
        Assert.True(queue.TryEnqueue(NewProposal(), mayTakeTurn, out bool hasTurn));
        return hasTurn;
    }

    private static Proposal NewProposal() =>
        Proposal.Rent(CommandEncoder.CreateDatabase("db", "0123456789012345678901"), 1);

    private static Queue<Proposal> Take(ProposalQueue queue)
    {
        var taken = new Queue<Proposal>();
        queue.MoveAllTo(taken);
        foreach (var proposal in taken)
        {
            proposal.ReleaseCommand();
        }

        return taken;
    }

    // Sleeps, and ends when work is left to the thread.
    private Thread Sleeper(ProposalQueue queue)
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
            )
        );
}
