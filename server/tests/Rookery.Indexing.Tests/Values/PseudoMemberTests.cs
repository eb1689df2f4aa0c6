using System.Buffers;
using System.Text;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Tests.Values;

/// <summary>
/// Arrays have a count, texts a length and dates and time spans their parts, unless the document has a member of
/// that name.
/// </summary>
public sealed class PseudoMemberTests
{
    private const string Members = """
        "lines":[{"q":1},{"q":2}],"none":[],"tags":["ab","c"],"name":"Zo\u00eb \ud83d\ude00","at":"2024-05-06T07:08:09.1230000Z","day":"2024-05-06","n":5,"o":{"Count":9},"boxes":[{"Count":4},{}],"days":["2024-05-06","x"],"deep":{"lines":[1,2,3]},"orders":[{"lines":[1,2]},{"lines":[]},{}],"took":"1.02:03:04","rests":["00:30:00","-00:00:01.5"],"zone":"2024-12-31T23:30:00.0000000-02:00","fine":"2024-02-29T12:00:00.1234567Z","kept":{"Days":7,"Date":"2024-05-06"}
        """;

    // The path, the values that a condition reads, and the value of a result.
    [Theory]
    [InlineData("lines.Count", "2", "2")]
    [InlineData("lines.Length", "2", "2")]
    [InlineData("none.Count", "0", "0")]
    [InlineData("tags.Length", "2", "2")]
    [InlineData("tags.length", "2", "2")]
    [InlineData("tags.COUNT", "2", "2")]
    [InlineData("lines.count", "", "[]")]
    [InlineData("deep.lines.Count", "3", "3")]
    [InlineData("orders.lines.Count", "2 0", "[2,0]")]
    [InlineData("orders.Count", "3", "3")]
    [InlineData("name.Length", "6", "6")]
    [InlineData("name.Count", "", "null")]
    [InlineData("name.count", "", "null")]
    [InlineData("day.Count", "", "null")]
    [InlineData("day.count", "", "null")]
    [InlineData("day.COUNT", "", "null")]
    [InlineData("day.length", "10", "10")]
    [InlineData("name.Year", "", "null")]
    [InlineData("at.Year", "2024", "2024")]
    [InlineData("at.Month", "5", "5")]
    [InlineData("at.Hour", "7", "7")]
    [InlineData("at.Millisecond", "123", "123")]
    [InlineData("at.DayOfYear", "127", "127")]
    [InlineData("at.DayOfWeek", "\"Monday\"", "\"Monday\"")]
    [InlineData("at.Date", "\"2024-05-06T00:00:00.0000000Z\"", "\"2024-05-06T00:00:00.0000000Z\"")]
    [InlineData("day.Day", "6", "6")]
    [InlineData("days.Month", "5", "[5]")]
    [InlineData("took.Days", "1", "1")]
    [InlineData("took.hours", "2", "2")]
    [InlineData("took.Minutes", "3", "3")]
    [InlineData("took.Seconds", "4", "4")]
    [InlineData("took.Ticks", "937840000000", "937840000000")]
    [InlineData("took.TotalSeconds", "93784", "93784")]
    [InlineData("took.Year", "", "null")]
    [InlineData("rests.TotalHours", "0.5 -0.0004166666666666667", "[0.5,-0.0004166666666666667]")]
    [InlineData("rests.Milliseconds", "0 -500", "[0,-500]")]
    [InlineData("at.Days", "", "null")]
    [InlineData("kept.Days", "7", "7")]
    [InlineData("kept.Date.Year", "2024", "2024")]
    [InlineData("fine.TimeOfDay", "\"12:00:00.1234567\"", "\"12:00:00.1234567\"")]
    [InlineData("fine.Microsecond", "456", "456")]
    [InlineData("fine.Nanosecond", "700", "700")]
    [InlineData("fine.Kind", "\"Utc\"", "\"Utc\"")]
    [InlineData("day.Kind", "\"Unspecified\"", "\"Unspecified\"")]
    [InlineData("fine.Offset", "", "null")]
    [InlineData("zone.Offset", "\"-02:00:00\"", "\"-02:00:00\"")]
    [InlineData("zone.TotalOffsetMinutes", "-120", "-120")]
    [InlineData("zone.UtcDateTime", "\"2025-01-01T01:30:00.0000000Z\"", "\"2025-01-01T01:30:00.0000000Z\"")]
    [InlineData("zone.UtcDateTime.Year", "2025", "2025")]
    [InlineData("zone.DateTime.Date.Day", "31", "31")]
    [InlineData("at.Date.Year", "2024", "2024")]
    [InlineData("at.TimeOfDay.Hours", "7", "7")]
    [InlineData("at.DayOfWeek.Length", "6", "6")]
    [InlineData("days.Date.Month", "5", "[5]")]
    [InlineData("at.Year.Length", "", "null")]
    [InlineData("n.Length", "", "null")]
    [InlineData("o.Count", "9", "9")]
    [InlineData("boxes.Count", "4", "[4]")]
    [InlineData("missing.Count", "", "null")]
    [InlineData("Count", "", "null")]
    public void A_path_may_end_in_a_pseudo_member(string path, string valuesRead, string valueWritten)
    {
        var document = new QueriedDocument(Encoding.UTF8.GetBytes(Members.Trim()));
        var field = new FieldPath([.. path.Split('.').Select(static name => new PathStep(name, false))], Position: 0);
        var values = new Values([]);
        new FieldReader(field).Read(document, ref values);
        Assert.Equal(valuesRead, string.Join(' ', values.Read));
        var output = new ArrayBufferWriter<byte>();
        new FieldWriter(field).Write(document, output);
        Assert.Equal(valueWritten, Encoding.UTF8.GetString(output.WrittenSpan));
    }

    private readonly struct Values(List<string> read) : IValueVisitor
    {
        public List<string> Read => read;

        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            read.Add(Encoding.UTF8.GetString(json));
            return true;
        }
    }
}
