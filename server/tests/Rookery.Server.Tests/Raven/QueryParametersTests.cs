using System.Text;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

/// <summary>The parameters in the query string of a URL, and texts of durations.</summary>
public sealed class QueryParametersTests
{
    [Theory]
    [InlineData("?id=a", "id", "a")]
    [InlineData("?&id=a&", "id", "a")]
    [InlineData("?x=1&&ID=a", "id", "a")]
    [InlineData("?id=users%2F1-A", "id", "users/1-A")]
    [InlineData("?id=a+b", "id", "a+b")]
    [InlineData("?id=100%", "id", "100%")]
    [InlineData("?id=%zz%41", "id", "%zzA")]
    [InlineData("?id=%C3%98st", "id", "Øst")]
    [InlineData("?id", "id", "")]
    [InlineData("?id=a=b", "id", "a=b")]
    [InlineData("?id=first&id=second", "id", "first")]
    public void Values_are_found_and_unescaped(string query, string name, string value) =>
        Assert.Equal(value, new QueryParameters(query).Text(name));

    [Theory]
    [InlineData("")]
    [InlineData("?")]
    [InlineData("?&&")]
    [InlineData("?identity=1")]
    public void An_absent_parameter_is_null(string query) => Assert.Null(new QueryParameters(query).Text("id"));

    [Theory]
    [InlineData("?id=%FF")]
    [InlineData("?id=%C3")]
    [InlineData("?id=%ED%A0%80")]
    public void Escapes_that_are_not_UTF8_are_refused(string query) =>
        Assert.Contains(
            "'id'",
            Assert.Throws<RefusedException>(() => new QueryParameters(query).Text("id")).Message,
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("?start=-1")]
    [InlineData("?start=x")]
    [InlineData("?start=99999999999999999999")]
    [InlineData("?start=1.5")]
    public void An_invalid_number_is_refused(string query) =>
        Assert.Equal(400, Assert.Throws<RefusedException>(() => new QueryParameters(query).Number("start", 0)).Status);

    [Theory]
    [InlineData("", false)]
    [InlineData("?f", false)]
    [InlineData("?f=False", false)]
    [InlineData("?f=true", true)]
    [InlineData("?f=True", true)]
    public void A_flag_is_true_or_false(string query, bool expected) =>
        Assert.Equal(expected, new QueryParameters(query).Flag("f"));

    [Theory]
    [InlineData("?f=maybe")]
    [InlineData("?f=1")]
    [InlineData("?f=true%20")]
    public void An_invalid_flag_is_refused(string query) =>
        Assert.Contains(
            "'f'",
            Assert.Throws<RefusedException>(() => new QueryParameters(query).Flag("f")).Message,
            StringComparison.Ordinal
        );

    [Fact]
    public void Unescaping_reports_a_destination_that_is_too_short()
    {
        const int TooShort = -1;
        Assert.Equal(TooShort, QueryParameters.Unescape("abc", new byte[2]));
        Assert.Equal(TooShort, QueryParameters.Unescape("ab%41", new byte[2]));
        byte[] fits = new byte[3];
        Assert.Equal(3, QueryParameters.Unescape("ab%41", fits));
        Assert.Equal("abA", Encoding.UTF8.GetString(fits));
    }

    [Theory]
    [InlineData("5000", 5000)]
    [InlineData("0", 0)]
    [InlineData("00:00:05", 5000)]
    [InlineData("00:00:00.2500000", 250)]
    [InlineData("00:59:59.9990000", 3_599_999)]
    [InlineData("3600001", 3_600_000)]
    [InlineData("1.00:00:00", 3_600_000)]
    [InlineData("10675199.02:48:05.4775807", 3_600_000)]
    public void Durations_are_milliseconds_or_TimeSpan_text_and_at_most_an_hour(string text, long milliseconds)
    {
        Assert.True(DurationText.TryParse(text, out var duration));
        Assert.Equal(milliseconds, (long)duration.TotalMilliseconds);
    }

    [Theory]
    [InlineData("")]
    [InlineData("-1")]
    [InlineData("-00:00:01")]
    [InlineData("soon")]
    [InlineData("99999999999999999")]
    public void Malformed_texts_are_not_durations(string text) => Assert.False(DurationText.TryParse(text, out _));
}
