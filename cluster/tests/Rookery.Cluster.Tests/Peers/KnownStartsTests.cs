using Rookery.Cluster.Peers;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>
/// Two starts of one store that connect at the same time are a member and a copy of its card, or a member before and
/// after a restart. If the earlier start still answers pings, the later one is a copy. Until that is known, the later
/// start is refused with <see cref="PeerRefusalKind.Passing"/>. A start has a number, which the store counts, and a
/// random id.
/// </summary>
public sealed class KnownStartsTests
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly KnownStarts _starts;

    public KnownStartsTests() => _starts = new KnownStarts(static _ => null, _time);

    [Fact]
    public void A_copy_that_was_started_more_often_is_refused_for_good_while_the_original_answers_and_when_it_is_off()
    {
        var original = Start(number: 5, id: 1);
        var copy = Start(number: 9, id: 2);
        Connect(original);
        Assert.Equal(PeerRefusalKind.Passing, _starts.AdmitOrRefuse(copy)!.Kind);
        Assert.True(_starts.IsChallenged(original));
        _time.Advance(TimeSpan.FromMilliseconds(500));
        Assert.Null(_starts.Recheck(original, _time.GetTimestamp()));
        Assert.Equal(PeerRefusalKind.ForGood, _starts.AdmitOrRefuse(copy)!.Kind);
        Assert.Null(_starts.AdmitOrRefuse(original));

        _starts.CountDisconnected(original);
        Assert.Equal(PeerRefusalKind.ForGood, _starts.AdmitOrRefuse(copy)!.Kind);
        var restarted = Start(number: 6, id: 3);
        Assert.Null(_starts.AdmitOrRefuse(restarted));
        _starts.CountConnected(restarted);
        Assert.Equal(PeerRefusalKind.ForGood, _starts.Recheck(original, _time.GetTimestamp())!.Kind);
    }

    [Fact]
    public void A_restart_is_admitted_at_once_after_its_old_connections_ended_or_soon_after_they_fell_silent()
    {
        var before = Start(number: 5, id: 1);
        Connect(before);
        _starts.CountDisconnected(before);
        var restarted = Start(number: 6, id: 2);
        Assert.Null(_starts.AdmitOrRefuse(restarted));
        _starts.CountConnected(restarted);

        // Bytes written before the process ended still arrive, including the answer to the last ping. It does not
        // count, because the ping was sent before the next start asked. Only 4 s of silence admit that start.
        long pingSentAt = _time.GetTimestamp();
        _time.Advance(TimeSpan.FromMilliseconds(10));
        var again = Start(number: 7, id: 3);
        for (int second = 0; second < 4; second++)
        {
            Assert.Equal(PeerRefusalKind.Passing, _starts.AdmitOrRefuse(again)!.Kind);
            Assert.True(_starts.IsChallenged(restarted));
            _time.Advance(TimeSpan.FromSeconds(1));
            Assert.Null(_starts.Recheck(restarted, answered: 0));
            Assert.Null(_starts.Recheck(restarted, pingSentAt));
        }

        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Null(_starts.AdmitOrRefuse(again));
        Assert.False(_starts.IsChallenged(again));
    }

    [Fact]
    public void A_start_with_a_lower_number_or_the_same_number_and_another_id_is_a_copy()
    {
        Assert.Null(_starts.AdmitOrRefuse(Start(number: 5, id: 1)));
        Assert.Equal(PeerRefusalKind.ForGood, _starts.AdmitOrRefuse(Start(number: 4, id: 2))!.Kind);
        Assert.Equal(PeerRefusalKind.ForGood, _starts.AdmitOrRefuse(Start(number: 5, id: 3))!.Kind);
        Assert.Null(_starts.AdmitOrRefuse(Start(number: 5, id: 1)));
    }

    [Fact]
    public void Later_starts_that_take_turns_do_not_prolong_each_others_wait()
    {
        Connect(Start(number: 5, id: 1));
        var one = Start(number: 6, id: 2);
        var other = Start(number: 7, id: 3);
        for (int i = 0; i < 8; i++)
        {
            Assert.Equal(PeerRefusalKind.Passing, _starts.AdmitOrRefuse(one)!.Kind);
            _time.Advance(TimeSpan.FromMilliseconds(250));
            Assert.Equal(PeerRefusalKind.Passing, _starts.AdmitOrRefuse(other)!.Kind);
            _time.Advance(TimeSpan.FromMilliseconds(250));
        }

        _time.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Null(_starts.AdmitOrRefuse(one));
        _starts.CountConnected(one);
        Assert.Equal(PeerRefusalKind.Passing, _starts.AdmitOrRefuse(other)!.Kind);
    }

    [Fact]
    public void Copies_that_take_turns_are_all_refused_for_good_when_the_original_answers()
    {
        var original = Start(number: 5, id: 1);
        Connect(original);
        PeerHello[] copies = [Start(number: 6, id: 2), Start(number: 7, id: 3)];
        foreach (var copy in copies)
        {
            Assert.Equal(PeerRefusalKind.Passing, _starts.AdmitOrRefuse(copy)!.Kind);
            _time.Advance(TimeSpan.FromMilliseconds(250));
        }

        Assert.Null(_starts.Recheck(original, _time.GetTimestamp()));
        Assert.All(copies, copy => Assert.Equal(PeerRefusalKind.ForGood, _starts.AdmitOrRefuse(copy)!.Kind));
    }

    [Fact]
    public void An_answer_of_the_earlier_start_to_one_later_start_does_not_make_another_a_copy()
    {
        var original = Start(number: 5, id: 1);
        Connect(original);
        Assert.Equal(PeerRefusalKind.Passing, _starts.AdmitOrRefuse(Start(number: 6, id: 2))!.Kind);
        _time.Advance(TimeSpan.FromMilliseconds(250));
        Assert.Null(_starts.Recheck(original, _time.GetTimestamp()));
        _time.Advance(TimeSpan.FromMilliseconds(250));
        Assert.Equal(PeerRefusalKind.Passing, _starts.AdmitOrRefuse(Start(number: 7, id: 3))!.Kind);
    }

    [Fact]
    public void A_member_that_names_many_stores_takes_bounded_memory()
    {
        var connected = Start(number: 5, id: 1);
        Connect(connected);
        for (int i = 0; i < 1000; i++)
        {
            Assert.Null(
                _starts.AdmitOrRefuse(Start(number: 1, id: 2) with { StoreId = new Guid(i + 2, 0, 0, new byte[8]) })
            );
        }

        // KnownStarts remembers at most 8 stores of a node.
        Assert.InRange(_starts.StoreCount, 1, 16);
        Assert.Equal(PeerRefusalKind.ForGood, _starts.AdmitOrRefuse(Start(number: 4, id: 3))!.Kind);
    }

    [Fact]
    public void A_store_is_remembered_only_after_a_start_of_it_is_admitted()
    {
        var unknown = Start(number: 5, id: 1);
        Assert.Null(_starts.Recheck(unknown, answered: 0));
        Assert.False(_starts.IsChallenged(unknown));
        _starts.CountDisconnected(unknown);
        Assert.Equal(0, _starts.StoreCount);
    }

    private static PeerHello Start(long number, ulong id) =>
        TestMember.Hello("B2") with
        {
            StartNumber = number,
            StartId = id,
        };

    /// <summary>Admits a start, whose connection then answers a ping.</summary>
    private void Connect(PeerHello start)
    {
        Assert.Null(_starts.AdmitOrRefuse(start));
        _starts.CountConnected(start);
        Assert.Null(_starts.Recheck(start, _time.GetTimestamp()));
    }
}
