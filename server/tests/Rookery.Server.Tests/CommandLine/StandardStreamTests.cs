using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Text;
using Rookery.Hosting.Logging;
using Rookery.Server.Tests.Support;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>Standard output over a real pipe, which blocks when it is full.</summary>
public sealed partial class StandardStreamTests : IDisposable
{
    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromMinutes(2);

    private readonly OsPipe _pipe = new();

    public void Dispose() => _pipe.Dispose();

    [Fact]
    public void Written_text_arrives_at_the_reader()
    {
        _pipe.Stream.Write("one "u8);
        Assert.Equal(3, _pipe.Stream.WriteWithin("two"u8, TimeSpan.Zero));
        Assert.Equal("one two", _pipe.Read(7));
    }

    [Fact]
    public void A_write_waits_for_a_blocked_reader_no_longer_than_requested()
    {
        _pipe.Fill();
        Assert.Equal(0, _pipe.Stream.WriteWithin("lost"u8, TimeSpan.FromMilliseconds(50)));
        Assert.Equal(0, _pipe.Stream.WriteWithin("lost"u8, TimeSpan.Zero));
    }

    [Fact]
    public async Task A_slow_reader_gets_all_of_a_text_longer_than_the_pipe()
    {
        int filled = _pipe.Fill();
        string text = new('x', 200_000);
        var writing = Task.Run(() => _pipe.Stream.WriteWithin(Encoding.UTF8.GetBytes(text), Guard));
        _pipe.Read(filled);
        Assert.Equal(text, _pipe.Read(text.Length));
        Assert.Equal(text.Length, await writing.WaitAsync(Guard));
    }

    [Fact]
    [UnsupportedOSPlatform("windows")]
    public async Task A_signal_does_not_end_a_wait_for_room()
    {
        int signals = 0;
        using var registered = PosixSignalRegistration.Create(
            PosixSignal.SIGCONT,
            context =>
            {
                Interlocked.Increment(ref signals);
                context.Cancel = true;
            }
        );
        const string text = "written after the signals";
        int filled = _pipe.Fill();
        int thread = 0;
        int written = -1;
        var writer = new Thread(() =>
        {
            Volatile.Write(ref thread, ThreadId());
            written = _pipe.Stream.WriteWithin(Encoding.UTF8.GetBytes(text), Guard);
        });
        writer.Start();
        while (Volatile.Read(ref thread) == 0)
        {
            await Task.Delay(1);
        }

        // The signal arrives at a random moment, nearly always during the wait for room.
        for (int sent = 1; sent <= 50; sent++)
        {
            Assert.Equal(0, SignalThread(Environment.ProcessId, thread, SigCont));
            await Task.Delay(5);
        }

        Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref signals) > 0, Guard), "a signal arrives");
        _pipe.Read(filled);
        Assert.True(writer.Join(Guard), "the write ends once there is room");
        Assert.Equal(text.Length, written);
        Assert.Equal(text, _pipe.Read(text.Length));
    }

    [Fact]
    public void A_missing_reader_and_a_closed_descriptor_are_different_errors()
    {
        _pipe.Stream.ThrowIfUnread();
        _pipe.CloseReader();
        Assert.Throws<OutputClosedException>(() => _pipe.Stream.Write("x"u8));
        Assert.Throws<OutputClosedException>(() => _pipe.Stream.WriteWithin("x"u8, TimeSpan.Zero));
        Assert.Throws<OutputClosedException>(_pipe.Stream.ThrowIfUnread);

        // No descriptor is open under this number.
        var closed = new StandardStream(9_999);
        Assert.True(Assert.Throws<OutputFailedException>(() => closed.Write("x"u8)).IsClosed);
        Assert.True(Assert.Throws<OutputFailedException>(() => closed.WriteWithin("x"u8, TimeSpan.Zero)).IsClosed);
        closed.ThrowIfUnread();
    }

    [Fact]
    public void A_full_disk_is_reported()
    {
        using var full = File.OpenHandle("/dev/full", FileMode.Open, FileAccess.Write);
        int inherited = Duplicate((int)full.DangerousGetHandle());
        try
        {
            var failure = Assert.Throws<OutputFailedException>(() => new StandardStream(inherited).Write("x"u8));
            Assert.Equal("No space left on device.", failure.Reason);
        }
        finally
        {
            _ = Close(inherited);
        }
    }

    // The number of the signal on Linux.
    private const int SigCont = 18;

    [LibraryImport("libc", EntryPoint = "gettid")]
    private static partial int ThreadId();

    [LibraryImport("libc", EntryPoint = "tgkill")]
    private static partial int SignalThread(int process, int thread, int signal);

    // Unlike descriptors that the runtime opens, this one stays open across exec.
    [LibraryImport("libc", EntryPoint = "dup")]
    private static partial int Duplicate(int descriptor);

    [LibraryImport("libc", EntryPoint = "close")]
    private static partial int Close(int descriptor);
}
