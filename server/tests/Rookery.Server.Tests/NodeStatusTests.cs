using System.Net.Sockets;
using System.Text;
using Rookery.Hosting;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>The status that a node reports to its machine: a file, its light, and keep-alives for systemd.</summary>
public sealed class NodeStatusTests
{
    [Fact]
    public void A_status_that_cannot_be_updated_is_logged_once_until_it_works_again()
    {
        var log = new RecordedLog();
        bool works = false;
        int calls = 0;
        var update = NodeStatus.GuardUpdate(
            log,
            () =>
            {
                calls++;
                if (!works)
                {
                    throw new IOException("no disk");
                }
            }
        );
        update();
        update();
        Assert.Contains("no disk", Assert.Single(log.Lines), StringComparison.Ordinal);
        works = true;
        update();
        Assert.Single(log.Lines);
        works = false;
        update();
        Assert.Equal(2, log.Lines.Count);
        Assert.Equal(4, calls);
    }

    [Fact]
    public void A_broken_invariant_is_not_caught() =>
        Assert.Throws<InvariantViolationException>(
            NodeStatus.GuardUpdate(new RecordedLog(), static () => Invariant.Holds(false, "a test fails"))
        );

    [Theory]
    [InlineData("/run/no-such-directory/notify")]
    [InlineData("@no-such-name-of-rookery")]
    [InlineData("vsock:2:1234")]
    [InlineData("long")]
    public void A_node_starts_without_anybody_at_the_notify_socket(string path)
    {
        string name = path is "long" ? "/run/" + new string('x', 200) : path;
        using var notifier = new SystemdNotifier(new SimulatedDisk("/data"), name);
        notifier.NotifyReady("serving");
        notifier.NotifyStopping();
    }

    [Fact]
    public void A_manager_that_listens_later_gets_the_next_status()
    {
        string directory = Directory.CreateTempSubdirectory("rookery-notify-").FullName;
        try
        {
            string path = Path.Join(directory, "notify");
            using var notifier = new SystemdNotifier(new SimulatedDisk("/data"), path);
            notifier.NotifyReady("serving");
            using var manager = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            manager.ReceiveTimeout = 60_000;
            manager.Bind(new UnixDomainSocketEndPoint(path));
            notifier.SetStatus("serving more");
            byte[] received = new byte[100];
            Assert.Equal("STATUS=serving more", Encoding.UTF8.GetString(received, 0, manager.Receive(received)));
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    /// <summary>A keep-alive must show that the thread pool works, without which no request is answered.</summary>
    [Fact]
    public async Task Keep_alives_for_systemd_come_from_the_thread_pool_and_begin_at_once()
    {
        var sent = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var timer = SystemdNotifier.BeginKeepAlives(
            () => sent.TrySetResult(Thread.CurrentThread.IsThreadPoolThread),
            2 * new CoalescingClock().Step
        );
        Assert.True(await sent.Task.WaitAsync(TimeSpan.FromMinutes(1)));
    }
}
