using System.Globalization;
using Rookery.Server.Alerts;

namespace Rookery.Server.Tests.Alerts;

/// <summary>Which alerts a node sends, as leader and as follower, and in quiet hours.</summary>
public sealed class AlertOutboxTests
{
    [Fact]
    public void The_leader_sends_all_alerts_and_a_new_leader_does_not_repeat_them()
    {
        var (leader, next) = (new AlertOutbox(), new AlertOutbox());
        var now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        MemberAlert[] all = [new("B", AlertSenderTests.HotAlert()), new("C", AlertSenderTests.HotAlert())];
        Assert.Equal(
            [("firing", "B"), ("firing", "C")],
            leader
                .Update(all, static _ => true, MayBeOver, now)
                .Select(static message => (message.State, message.Alert.Node))
        );
        Assert.Empty(next.Update(all, static _ => false, MayBeOver, now));
        Assert.Empty(next.Update(all, static _ => false, MayBeOver, now.AddSeconds(30)));

        // The first leader has failed, and the other one leads now.
        Assert.Empty(next.Update(all, static _ => true, MayBeOver, now.AddSeconds(40)));
        Assert.Equal(
            [("resolved", "B")],
            next.Update([all[1]], static _ => true, MayBeOver, now.AddSeconds(50))
                .Select(static message => (message.State, message.Alert.Node))
        );
    }

    [Fact]
    public void An_alert_that_began_when_the_leader_failed_is_sent_by_the_next_leader()
    {
        var next = new AlertOutbox();
        var now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        Assert.Empty(next.Update([new("B", AlertSenderTests.HotAlert())], static _ => false, MayBeOver, now));
        Assert.Single(
            next.Update([new("B", AlertSenderTests.HotAlert())], static _ => true, MayBeOver, now.AddSeconds(10))
        );
    }

    [Fact]
    public void An_alert_ends_only_after_its_restarted_node_had_time_to_raise_it_again()
    {
        var outbox = new AlertOutbox();
        var now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        MemberAlert[] raised = [new("B", AlertSenderTests.HotAlert())];
        Assert.Single(outbox.Update(raised, static _ => true, MayBeOver, now));
        Assert.Empty(outbox.Update([], static _ => true, static _ => false, now.AddSeconds(10)));
        Assert.Empty(outbox.Update(raised, static _ => true, static _ => false, now.AddSeconds(20)));
        Assert.Empty(outbox.Update([], static _ => true, static _ => false, now.AddSeconds(30)));
        Assert.Equal(
            ["resolved"],
            outbox.Update([], static _ => true, MayBeOver, now.AddSeconds(40)).Select(static message => message.State)
        );
    }

    [Fact]
    public void Alerts_about_two_members_are_distinguished_and_are_not_repeated_by_another_leader()
    {
        var outbox = new AlertOutbox();
        var now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        MemberAlert Down(string reporter, string member) =>
            new(reporter, AlertSenderTests.HotAlert() with { Name = "member_down", Member = member });
        MemberAlert NoMargin(string reporter) => new(reporter, AlertSenderTests.HotAlert() with { Name = "no_margin" });
        Assert.Equal(
            ["D"],
            outbox
                .Update([Down("A", "D")], static _ => true, MayBeOver, now)
                .Select(static message => message.Alert.Alert.Member)
        );
        Assert.Equal(
            ["E", null],
            outbox
                .Update(
                    [Down("A", "D"), Down("A", "E"), NoMargin("A")],
                    static _ => true,
                    MayBeOver,
                    now.AddSeconds(10)
                )
                .Select(static message => message.Alert.Alert.Member)
        );
        Assert.Empty(
            outbox.Update(
                [Down("B", "D"), Down("B", "E"), NoMargin("B")],
                static _ => true,
                MayBeOver,
                now.AddSeconds(20)
            )
        );
        Assert.Equal(
            [("resolved", "D")],
            outbox
                .Update([Down("B", "E"), NoMargin("B")], static _ => true, MayBeOver, now.AddSeconds(30))
                .Select(static message => (message.State, message.Alert.Alert.Member!))
        );
    }

    [Theory]
    [InlineData("21:00", "06:30", "2026-01-02T20:59:59", null)]
    [InlineData("21:00", "06:30", "2026-01-02T21:00:00", "2026-01-02T21:00:00")]
    [InlineData("21:00", "06:30", "2026-01-02T23:59:59", "2026-01-02T21:00:00")]
    [InlineData("21:00", "06:30", "2026-01-03T06:29:59", "2026-01-02T21:00:00")]
    [InlineData("21:00", "06:30", "2026-01-03T06:30:00", null)]
    [InlineData("01:00", "02:00", "2026-01-02T01:59:30", "2026-01-02T01:00:00")]
    [InlineData("01:00", "02:00", "2026-01-02T23:00:00", null)]
    public void Quiet_hours_may_include_midnight(string from, string until, string now, string? since)
    {
        static int Minute(string text) => (int)TimeSpan.Parse(text, CultureInfo.InvariantCulture).TotalMinutes;
        var settings = new AlertSettings(null, null, Minute(from), Minute(until));
        Assert.Equal(since is null ? null : Utc(since), settings.QuietSince(Utc(now)));

        static DateTimeOffset Utc(string text) =>
            new(DateTime.Parse(text, CultureInfo.InvariantCulture), TimeSpan.Zero);
    }

    [Fact]
    public void In_quiet_hours_only_critical_alerts_are_sent_and_the_others_afterwards_if_they_last()
    {
        var outbox = new AlertOutbox();
        var now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        MemberAlert Of(string node, string severity) =>
            new(node, AlertSenderTests.HotAlert() with { Severity = severity });
        MemberAlert[] all =
        [
            Of("A", AlertSeverity.Warning),
            Of("B", AlertSeverity.Critical),
            Of("C", AlertSeverity.Warning),
        ];
        string[] Sent(MemberAlert[] alerts, bool isQuiet, int seconds) =>
            [
                .. outbox
                    .Update(alerts, static _ => true, MayBeOver, now.AddSeconds(seconds), isQuiet ? now : null)
                    .Select(static message => $"{message.State} {message.Alert.Node}"),
            ];
        Assert.Equal(["firing B"], Sent(all, isQuiet: true, 0));
        Assert.Empty(Sent(all, isQuiet: true, 60));

        // The end of an alert waits too, and an alert that began and ended in between is not sent.
        Assert.Empty(Sent([all[0]], isQuiet: true, 70));
        Assert.Equal(["firing A", "resolved B"], Sent([all[0]], isQuiet: false, 80));
        Assert.Empty(Sent([all[0]], isQuiet: false, 90));
    }

    [Fact]
    public void A_critical_alert_that_begins_again_in_quiet_hours_is_sent_again()
    {
        var outbox = new AlertOutbox();
        var now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        MemberAlert critical = new("A", AlertSenderTests.HotAlert() with { Severity = AlertSeverity.Critical });
        string[] Sent(MemberAlert[] alerts, bool isQuiet, int seconds) =>
            [
                .. outbox
                    .Update(alerts, static _ => true, MayBeOver, now.AddSeconds(seconds), isQuiet ? now : null)
                    .Select(static message => message.State),
            ];
        Assert.Equal(["firing"], Sent([critical], isQuiet: true, 0));
        Assert.Empty(Sent([], isQuiet: true, 10));
        Assert.Equal(["firing"], Sent([critical], isQuiet: true, 20));
        Assert.Empty(Sent([critical], isQuiet: true, 30));
        Assert.Empty(Sent([], isQuiet: true, 40));
        Assert.Equal(["resolved"], Sent([], isQuiet: false, 50));
    }

    [Fact]
    public void A_held_alert_is_sent_by_the_next_leader_if_the_first_one_fails_at_the_end_of_quiet_hours()
    {
        var next = new AlertOutbox();
        var now = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        MemberAlert[] held = [new("B", AlertSenderTests.HotAlert())];
        Assert.Empty(next.Update(held, static _ => false, MayBeOver, now, quietSince: now));
        Assert.Empty(next.Update(held, static _ => false, MayBeOver, now.AddHours(1), quietSince: now));
        Assert.Empty(next.Update(held, static _ => false, MayBeOver, now.AddHours(1).AddSeconds(10)));
        Assert.Single(next.Update(held, static _ => true, MayBeOver, now.AddHours(1).AddSeconds(20)));
    }

    /// <summary>Formerly, the next leader sent it again when the quiet hours ended, or never sent its end.</summary>
    [Theory]
    [InlineData(AlertSeverity.Warning, -10)] // the leader sends it at once
    [InlineData(AlertSeverity.Critical, 10)] // the leader sends it in quiet hours too
    public void An_alert_that_was_sent_just_before_the_leader_failed_in_quiet_hours_is_sent_once(
        string severity,
        int beganSeconds
    )
    {
        var quietSince = new DateTimeOffset(2026, 1, 1, 21, 0, 0, TimeSpan.Zero);
        var began = quietSince.AddSeconds(beganSeconds);
        MemberAlert[] alerts = [new("B", Alert(severity, began))];

        // At the end of the quiet hours the alert is still active, or it has ended long before.
        foreach (bool lasts in new[] { true, false })
        {
            var next = new AlertOutbox();
            Assert.Empty(
                next.Update(alerts, static _ => false, MayBeOver, began, beganSeconds < 0 ? null : quietSince)
            );
            Assert.Empty(next.Update(alerts, static _ => false, MayBeOver, quietSince.AddSeconds(15), quietSince));
            for (int hour = 1; hour < 9; hour++)
            {
                var now = quietSince.AddHours(hour);
                Assert.Empty(next.Update(lasts ? alerts : [], _ => hour > 4, MayBeOver, now, quietSince));
            }

            var morning = quietSince.AddHours(9);
            string[] states =
            [
                .. next.Update(lasts ? alerts : [], static _ => true, MayBeOver, morning).Select(static it => it.State),
                .. next.Update([], static _ => true, MayBeOver, morning.AddHours(1)).Select(static it => it.State),
            ];
            Assert.Equal(["resolved"], states);
        }
    }

    /// <summary>The member was restarted in quiet hours, and becomes leader.</summary>
    [Fact]
    public void A_leader_that_was_restarted_in_quiet_hours_does_not_repeat_what_was_sent_before_them()
    {
        var next = new AlertOutbox();
        var quietSince = new DateTimeOffset(2026, 1, 1, 21, 0, 0, TimeSpan.Zero);
        MemberAlert[] alerts =
        [
            new("B", Alert(AlertSeverity.Warning, quietSince.AddHours(-1))),
            new("C", Alert(AlertSeverity.Warning, quietSince.AddHours(1))),
        ];
        for (int minute = 120; minute < 130; minute++)
        {
            var now = quietSince.AddMinutes(minute);
            Assert.Empty(next.Update(alerts, _ => minute > 125, MayBeOver, now, quietSince));
        }

        Assert.Equal(
            ["C"],
            next.Update(alerts, static _ => true, MayBeOver, quietSince.AddHours(9))
                .Select(static message => message.Alert.Node)
        );
    }

    /// <summary>Formerly, its receiver never learned that it had ended.</summary>
    [Fact]
    public void A_leader_that_was_restarted_in_quiet_hours_sends_the_end_of_what_was_sent_before_them()
    {
        var restarted = new AlertOutbox();
        var quietSince = new DateTimeOffset(2026, 1, 1, 21, 0, 0, TimeSpan.Zero);
        MemberAlert[] alerts = [new("B", Alert(AlertSeverity.Warning, quietSince.AddHours(-1)))];
        Assert.Empty(restarted.Update(alerts, static _ => true, MayBeOver, quietSince.AddHours(1), quietSince));
        Assert.Empty(restarted.Update([], static _ => true, MayBeOver, quietSince.AddHours(2), quietSince));
        Assert.Equal(
            ["resolved"],
            restarted
                .Update([], static _ => true, MayBeOver, quietSince.AddHours(9))
                .Select(static message => message.State)
        );
    }

    // An alert that became active at a time.
    private static ActiveAlert Alert(string severity, DateTimeOffset time)
    {
        var alert = AlertSenderTests.HotAlert() with { Severity = severity };
        return alert with { Since = time - AlertCatalogue.Find(alert.Name)!.For };
    }

    // AlertOutbox.Update asks whether an alert that is no longer reported is over; here it always is.
    private static bool MayBeOver(MemberAlert alert) => true;
}
