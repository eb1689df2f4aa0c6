namespace Rookery.Platform.Tests;

public sealed class SocketThreadsTests
{
    [Fact]
    public async Task Work_on_the_pool_continues_there_when_another_thread_completes_what_it_awaits()
    {
        var awaited = new TaskCompletionSource();
        bool wasOnPool = false;
        var work = SocketThreads.RunOnPoolAsync(async () =>
        {
            await awaited.Task;
            wasOnPool = Thread.CurrentThread.IsThreadPoolThread;
        });
        RunOnThread("completes", awaited.SetResult);
        await work;
        Assert.True(wasOnPool);
    }

    [Fact]
    public async Task The_caller_of_work_on_the_pool_keeps_its_own_context()
    {
        SynchronizationContext? seen = new();
        await Task.Run(async () =>
        {
            await SocketThreads.RunOnPoolAsync(static () => Task.CompletedTask);
            seen = SynchronizationContext.Current;
        });
        Assert.Null(seen);
    }

    [Fact]
    public async Task An_exception_of_work_on_the_pool_reaches_the_caller()
    {
        await Assert.ThrowsAsync<InvalidDataException>(() =>
            SocketThreads.RunOnPoolAsync(static () => throw new InvalidDataException())
        );
    }

    [Fact]
    public void A_disk_operation_counts_only_on_a_thread_of_sockets()
    {
        using var directory = new TemporaryDirectory();
        using var file = new PosixDisk().Open(Path.Join(directory.Path, "file"), DiskOpen.CreateNew);
        long before = SocketThreads.BlockingCalls;
        RunOnThread("other", () => file.Write("a"u8, 0));
        Assert.Equal(before, SocketThreads.BlockingCalls);
        RunOnThread(".NET Sockets", () => file.Write("a"u8, 0));
        Assert.Equal(before + 1, SocketThreads.BlockingCalls);
    }

    private static void RunOnThread(string name, Action action)
    {
        var thread = new Thread(() => action()) { Name = name };
        thread.Start();
        thread.Join();
    }
}
