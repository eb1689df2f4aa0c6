namespace Rookery.Platform.Tests;

/// <summary>Work of sockets that continues on the thread pool, and disk calls that block threads of sockets.</summary>
public sealed class SocketThreadsTests
{
    [Fact]
    public async Task Work_on_the_pool_continues_there_when_another_thread_completes_the_awaited_task()
    {
        var awaited = new TaskCompletionSource();
        bool wasOnPool = false;
        var work = await StartAsync(async () =>
        {
            await awaited.Task;
            wasOnPool = Thread.CurrentThread.IsThreadPoolThread;
        });
        RunOnThread("completes", awaited.SetResult);
        await work;
        Assert.True(wasOnPool);
    }

    /// <summary>The completing thread may hold a lock.</summary>
    [Fact]
    public async Task Work_on_the_pool_does_not_continue_within_the_completion_of_the_awaited_task()
    {
        var awaited = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int completingThread = 0;
        bool wasWithin = false;
        var work = await StartAsync(async () =>
        {
            await awaited.Task;
            wasWithin = Environment.CurrentManagedThreadId == Volatile.Read(ref completingThread);
        });
        await Task.Run(() =>
        {
            Volatile.Write(ref completingThread, Environment.CurrentManagedThreadId);
            awaited.SetResult();
            Volatile.Write(ref completingThread, 0);
        });
        await work;
        Assert.False(wasWithin);
    }

    [Fact]
    public async Task Work_on_the_pool_continues_on_another_thread_after_a_yield()
    {
        int startingThread = 0;
        bool wasWithin = false;
        Task work = Task.CompletedTask;
        await Task.Run(() =>
        {
            Volatile.Write(ref startingThread, Environment.CurrentManagedThreadId);
            work = SocketThreads.ContinueOnPoolAsync(
                async _ =>
                {
                    await Task.Yield();
                    wasWithin = Environment.CurrentManagedThreadId == Volatile.Read(ref startingThread);
                },
                state: 0
            );
            Volatile.Write(ref startingThread, 0);
        });
        await work;
        Assert.False(wasWithin);
    }

    [Fact]
    public async Task An_exception_of_work_on_the_pool_reaches_the_caller() =>
        await Assert.ThrowsAsync<InvalidDataException>(() =>
            SocketThreads.RunOnPoolAsync(static () => throw new InvalidDataException())
        );

    [Fact]
    public void A_disk_operation_counts_only_on_a_thread_of_sockets()
    {
        using var directory = new TemporaryDirectory();
        var disk = new PosixDisk();
        string path = Path.Join(directory.Path, "file");
        using var file = disk.Open(path, DiskOpen.CreateNew);
        Action[] operations = [() => file.Write("a"u8, offset: 0), file.Sync, () => disk.Delete(path)];
        long before = SocketThreads.BlockingCalls;
        RunOnThread("other", operations[0]);
        Assert.Equal(before, SocketThreads.BlockingCalls);
        // The runtime gives this name to its threads for sockets.
        RunOnThread(".NET Sockets", () => Array.ForEach(operations, static operation => operation()));
        Assert.Equal(before + operations.Length, SocketThreads.BlockingCalls);
    }

    /// <summary>Starts work, and returns its task once the work awaits.</summary>
    private static async Task<Task> StartAsync(Func<Task> work)
    {
        Task started = Task.CompletedTask;
        await Task.Run(() =>
        {
            started = SocketThreads.ContinueOnPoolAsync(static work => work(), work);
        });
        return started;
    }

    private static void RunOnThread(string name, Action action)
    {
        var thread = new Thread(() => action()) { Name = name };
        thread.Start();
        thread.Join();
    }
}
