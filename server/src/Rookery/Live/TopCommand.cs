using System.CommandLine;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Text.Json;
using System.Threading.Channels;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Terminal;

namespace Rookery.Live;

/// <summary>
/// `rookery top`: shows the cluster live. If stdout is not a terminal, prints its current state once.
/// </summary>
internal static class TopCommand
{
    private const int TimelineSeconds = 60;
    private const int MinPrintedWidth = 160;
    private const int LinesPerPage = 10;
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    // A node waits up to 30 s for another member whose disk operations are asked for. Meanwhile this command could show
    // no other node's operations.
    private static readonly TimeSpan IoTimeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan FirstAnswerTimeout = TimeSpan.FromSeconds(10);

    public static Command Create()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command(
                "top",
                "Watch the cluster live: nodes, disks, slow disk operations, indexes. If stdout is not a terminal, "
                    + "prints the state once."
            )
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    client =>
                        address.IsJson(parsed) || !Tty.IsOutput || Tty.IsDumb || Console.IsInputRedirected
                            ? PrintOnceAsync(client, address.IsJson(parsed), TimeProvider.System)
                            : WatchAsync(client, TimeProvider.System)
                )
        );
        return command;
    }

    private static async Task<int> PrintOnceAsync(NodeClient client, bool isJson, TimeProvider time)
    {
        using var firstState = new CancellationTokenSource(FirstAnswerTimeout, time);
        var screen = new TopScreen(new Paint(isOn: false));
        string? raw = null;
        try
        {
            await new LiveFeed(client, time).RunAsync(
                (view, text) =>
                {
                    screen.View = view;
                    raw = text;
                    firstState.Cancel();
                },
                trouble => screen.Trouble = trouble,
                firstState.Token
            );
        }
        catch (OperationCanceledException)
        {
            // The state has arrived, or the time is over.
        }

        if (screen.View is null)
        {
            throw new AdminException(
                screen.Trouble
                    ?? $"The node at {client.Address} gave no state within {FirstAnswerTimeout.TotalSeconds} s.",
                ExitCode.Failure
            );
        }

        screen.Trouble = null;
        if (isJson)
        {
            Output.Line(
                raw
                    ?? throw new AdminException(
                        $"The node at {client.Address} has no live view, so there is no JSON of it. Use `rookery "
                            + $"status --json`.",
                        ExitCode.Failure
                    )
            );
            return ExitCode.Success;
        }

        var showIo = await ReadIoAsync(client, screen.Member, screen.View?.Time, time, default);
        showIo(screen);
        Output.Lines(
            screen.FormatAll(Math.Max(Tty.Size().Width, MinPrintedWidth)).Select(static line => line.TrimEnd())
        );
        return ExitCode.Success;
    }

    private static async Task<int> WatchAsync(NodeClient client, TimeProvider time)
    {
        // Keys, states and window sizes are queued. The loop below applies all queued changes, then redraws the screen.
        var changes = Channel.CreateUnbounded<Action<TopScreen>>(new UnboundedChannelOptions { SingleReader = true });
        using var end = new CancellationTokenSource();
        var screen = new TopScreen(new Paint(string.IsNullOrEmpty(Environment.GetEnvironmentVariable("NO_COLOR"))));
        ExceptionDispatchInfo? feedFailure = null;
        using (var terminal = new RawTerminal())
        {
            void Stop(PosixSignalContext signal)
            {
                signal.Cancel = true;
                end.Cancel();
            }

            using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop);
            using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
            using var hangUp = PosixSignalRegistration.Create(PosixSignal.SIGHUP, Stop);
            using var resize = PosixSignalRegistration.Create(
                PosixSignal.SIGWINCH,
                _ => changes.Writer.TryWrite(static _ => { })
            );
            using var suspend = PosixSignalRegistration.Create(
                PosixSignal.SIGTSTP,
                signal =>
                {
                    signal.Cancel = true;
                    terminal.Stop();
                }
            );
            using var resume = PosixSignalRegistration.Create(
                PosixSignal.SIGCONT,
                _ => changes.Writer.TryWrite(_ => terminal.SetUpAgain())
            );
            new Thread(() => RawTerminal.ReadKeys(key => changes.Writer.TryWrite(shown => Press(shown, key, end))))
            {
                IsBackground = true,
                Name = "keys",
            }.Start();
            var feed = FeedAsync();
            var disk = DiskAsync();
            try
            {
                Draw(screen);
                while (await changes.Reader.WaitToReadAsync(end.Token))
                {
                    while (changes.Reader.TryRead(out var change))
                    {
                        change(screen);
                    }

                    Draw(screen);
                }
            }
            catch (OperationCanceledException)
            {
                // The user or a signal ended the view.
            }

            await end.CancelAsync();
            await Task.WhenAll(feed, disk);
        }

        feedFailure?.Throw();
        return ExitCode.Success;

        async Task FeedAsync()
        {
            try
            {
                await new LiveFeed(client, time).RunAsync(
                    (view, _) =>
                        changes.Writer.TryWrite(shown =>
                        {
                            shown.Trouble = null;
                            shown.View = shown.IsPaused ? shown.View : view;
                        }),
                    trouble => changes.Writer.TryWrite(shown => shown.Trouble = trouble),
                    end.Token
                );
            }
            catch (OperationCanceledException)
            {
                // The user or a signal ended the view.
            }
            catch (Exception failure)
            {
                // This also ends the view for an answer that cannot be read, from a node that was upgraded meanwhile.
                // Otherwise the screen would show its last state for ever.
                feedFailure = ExceptionDispatchInfo.Capture(failure);
                await end.CancelAsync();
            }
        }

        async Task DiskAsync()
        {
            try
            {
                while (true)
                {
                    if (!screen.IsPaused)
                    {
                        changes.Writer.TryWrite(
                            await ReadIoAsync(client, screen.Member, screen.View?.Time, time, end.Token)
                        );
                    }

                    await Task.Delay(Interval, time, end.Token);
                }
            }
            catch (OperationCanceledException)
            {
                // The user or a signal ended the view.
            }
        }
    }

    private static void Draw(TopScreen screen)
    {
        var (width, height) = Tty.Size();
        RawTerminal.Draw(screen.FormatToFit(width, height), height);
    }

    private static void Press(TopScreen screen, Key key, CancellationTokenSource end)
    {
        switch (key)
        {
            case Key.Quit:
                end.Cancel();
                break;
            case Key.Pause:
                screen.IsPaused = !screen.IsPaused;
                break;
            case Key.NextNode or Key.PreviousNode when screen.View is { Members.Count: > 0 } view:
                int count = view.Members.Count;
                int current = view.Members.ToList().FindIndex(member => ReferenceEquals(member, screen.Member));
                int chosen = key == Key.NextNode ? current + 1 : current - 1;
                screen.Chosen = view.Members[(chosen + count) % count].Tag; // from the last to the first and back
                screen.Scroll = 0;
                break;
            case Key.Up:
                screen.Scroll--;
                break;
            case Key.Down:
                screen.Scroll++;
                break;
            case Key.PageUp:
                screen.Scroll -= LinesPerPage;
                break;
            case Key.PageDown:
                screen.Scroll += LinesPerPage;
                break;
        }
    }

    /// <summary>Reads the disk operations of a node.</summary>
    /// <param name="client">The client of the asked node.</param>
    /// <param name="member">The node whose operations are read; null for none.</param>
    /// <param name="now">The time of the asked node; null if unknown.</param>
    /// <param name="time">The clock of this machine, which may differ from the node's.</param>
    /// <param name="cancellation">Ends the request.</param>
    /// <returns>The change of the screen. If the node gives no answer, the previous operations stay, unless they are
    /// another node's.</returns>
    private static async Task<Action<TopScreen>> ReadIoAsync(
        NodeClient client,
        LiveMember? member,
        DateTimeOffset? now,
        TimeProvider time,
        CancellationToken cancellation
    )
    {
        if (member is null)
        {
            return static _ => { };
        }

        using var timeout = new CancellationTokenSource(IoTimeout, time);
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(cancellation, timeout.Token);
        long since = ((now ?? time.GetUtcNow()).ToUnixTimeSeconds() - TimelineSeconds) * 1_000_000;
        try
        {
            string node = member.IsSelf ? string.Empty : IoCommand.NodeParameter(member.Tag, '&');
            var answer = await client.GetJsonAsync(
                HttpMethod.Get,
                $"/debug/io?span=86400&since={since}{node}",
                cancellation: linked.Token
            );
            var events = IoPage.Read(answer.GetProperty("Events"));
            var slow = IoPage.Read(answer.GetProperty("SlowEvents"));
            return screen =>
            {
                screen.Events = events;
                screen.Slow = slow;
                screen.EventsOf = member.Tag;
            };
        }
        catch (Exception failure)
            when (failure
                    is AdminException
                        or JsonException
                        or KeyNotFoundException
                        or IndexOutOfRangeException
                        or FormatException
                        or InvalidOperationException
                || (failure is OperationCanceledException && !cancellation.IsCancellationRequested)
            )
        {
            return screen =>
            {
                if (!string.Equals(screen.EventsOf, member.Tag, StringComparison.Ordinal))
                {
                    screen.EventsOf = null;
                }
            };
        }
    }
}
