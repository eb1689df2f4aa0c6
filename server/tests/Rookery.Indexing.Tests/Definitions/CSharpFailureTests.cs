namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// A C# operation that fails on a document's values is an error of that document. Operations on null give null.
/// </summary>
public sealed class CSharpFailureTests
{
    [Theory]
    [InlineData("o.N / o.Zero", "divides by zero")]
    [InlineData("o.N % o.Zero", "divides by zero")]
    [InlineData("o.Price / 0m", "divides by zero")]
    [InlineData("1.0 / o.Zero", "Infinity, which JSON does not have")]
    [InlineData("new[] { long.MaxValue, 1L }.Sum()", "larger than its type allows")]
    [InlineData("TimeSpan.FromDays(1) * (0.0 / o.Zero)", "a C# function that does not accept it")]
    [InlineData("(int)o.Number", "uses a cast on a string")]
    [InlineData("o.S * 2", "calculates with a string and a number")]
    [InlineData("o.Flag + 1", "calculates with a bool and a number")]
    [InlineData("o.S > 3", "compares a string with a number")]
    [InlineData("o.S && o.Flag", "a condition is a string")]
    [InlineData("o.N ? 1 : 2", "a condition is a number")]
    [InlineData("o.S.Year", "reads the member 'Year', which a string does not have")]
    [InlineData("o.At.Foo", "reads the member 'Foo', which a string does not have")]
    [InlineData("o.At.YearOfTheEraOfTheCalendarOfTheReader", "the member 'YearOfTheEraOfTheCalendarOfTheReader'")]
    [InlineData("o.N.Foo", "reads the member 'Foo', which a number does not have")]
    [InlineData("o.S.length", "reads the member 'length', which a string does not have")]
    [InlineData("o.Tags.Foo", "reads the member 'Foo', which an array does not have")]
    [InlineData("o.S.AddDays(1)", "calls AddDays on a string, which is no date")]
    [InlineData("o.N.ToLower()", "calls ToLower on a number, which is no string")]
    [InlineData("o.N.Contains(\"7\")", "calls Contains on a number")]
    [InlineData("o.S.Contains(o.Nothing)", "calls Contains with null")]
    [InlineData("o.S.Split(\",\").Average()", "uses Average on a string")]
    [InlineData("Math.Abs(o.S)", "uses Math.Abs on a string")]
    [InlineData("Math.Pow(2, o.S)", "uses Math.Pow on a string")]
    [InlineData("Convert.ToInt64(o.Tags)", "uses Convert.ToInt64 on an array")]
    [InlineData("TimeSpan.FromDays(o.S)", "calls TimeSpan.FromDays on a string")]
    [InlineData("string.IsNullOrEmpty(o.N)", "calls string.IsNullOrEmpty on a number")]
    [InlineData("string.Format(o.N, 1)", "calls string.Format on a number")]
    [InlineData("string.CompareOrdinal(o.N, o.S)", "calls string.CompareOrdinal on a number")]
    [InlineData("int.Parse(o.S)", "'Ann Lee' cannot be parsed as a number")]
    [InlineData("int.Parse(\"99999999999\")", "cannot be parsed")]
    [InlineData("o.N == \"7\"", "compares a number with a string")]
    [InlineData("o.S < \"M\"", "compares a string with a string: C# compares strings by string.CompareOrdinal")]
    [InlineData("o.Tags.Where(t => t >= \"a\")", "compares a string with a string")]
    [InlineData("'a' < \"b\"", "compares a char with a string")]
    [InlineData("o.At.DayOfWeek < \"Monday\"", "compares a DayOfWeek with a string")]
    [InlineData("o.At.DayOfWeek + 1", "adds a number to a DayOfWeek")]
    [InlineData("1 + o.At.DayOfWeek", "adds a number to a DayOfWeek")]
    [InlineData("o.Flag != 1", "compares a bool with a number")]
    [InlineData("o.S == o.Flag", "compares a string with a bool")]
    [InlineData("o.At.Date == \"2024-02-29\"", "compares a date with a string")]
    [InlineData("o.At < \"2024-05-06\"", "compares a string with a string")]
    [InlineData("o.At > o.Took", "compares a string with a string")]
    [InlineData("5.CompareTo(5L)", "calls CompareTo of a number with a number of a wider type")]
    [InlineData("o.At.CompareTo(o.Zoned)", "calls CompareTo of a date with a date of another type")]
    [InlineData("new int[] { o.D }", "a number that is no integer in a sequence of type int")]
    [InlineData("new int[] { o.Big }", "larger than its type allows")]
    [InlineData("new long[] { o.D }", "a number that is no integer in a sequence of type long")]
    [InlineData("new List<long> { o.S }", "a string that is no integer in a sequence of type long")]
    [InlineData("new[] { 1 }.Append(o.D)", "a number that is no integer in a sequence of type int")]
    [InlineData(
        "new int[] { o.Lines.Aggregate(0, (s, l) => s + l.Price) }",
        "a number that is no integer in a sequence of type int"
    )]
    [InlineData("new float[] { o.S }", "uses a cast on a string")]
    [InlineData("new string[] { o.N }", "casts a number to a string")]
    [InlineData("5.CompareTo(o.D)", "calls CompareTo of a number with a number of a wider type")]
    [InlineData("0.5 * 2m", "a decimal and a double, for which C# requires a cast")]
    [InlineData("o.Price + 0m > 0.5", "a decimal and a double")]
    [InlineData("long.MinValue % -1", "larger than its type allows")]
    [InlineData("int.MinValue / -1", "larger than its type allows")]
    [InlineData("new[] { 2147483647, 1 }.Sum()", "larger than its type allows")]
    [InlineData("(string)o.N", "casts a number to a string")]
    [InlineData("o.Attr.HasValue", "reads the member 'HasValue', which an object does not have")]
    [InlineData("o.Tags.HasValue", "reads the member 'HasValue', which an array does not have")]
    [InlineData("o.Tags.Value", "reads the member 'Value', which an array does not have")]
    [InlineData("string.Format(\"{0:{{}}}\", o.N)", "a format of string.Format is invalid")]
    [InlineData("DateTime.Parse(o.S)", "'Ann Lee' is no date")]
    [InlineData("new DateTime(2023, 2, 29)", "no day 29 of month 2")]
    [InlineData("o.At.AddYears(9000)", "after the year 9999")]
    [InlineData("o.S.Substring(99)", "not between 0 and 7")]
    [InlineData("o.Tags[5]", "reads element 5 of an array of length 3")]
    [InlineData("o.NoTags.First()", "a sequence that has none")]
    [InlineData("o.NoTags.Aggregate((a, t) => a + t)", "a sequence that has none")]
    [InlineData("Convert.ToInt64(1e19)", "larger than its type allows")]
    [InlineData("Convert.ToInt32(2147483647.5)", "larger than its type allows")]
    [InlineData("o.Tags.Single()", "of a sequence that has 3")]
    [InlineData("o.S.Select(c => c)", "iterates over a string")]
    [InlineData("o.Tags.Sum()", "uses Sum on a string")]
    [InlineData("\"\" + o.Tags", "makes a text of an array")]
    [InlineData("string.Format(\"{3}\", o.N)", "refers to more values")]
    [InlineData("o.At.ToString(\"%\")", "is no format of")]
    [InlineData("o.N.ToString(\"D99999\")", "longer than this server allows")]
    [InlineData("o.N.ToString(\"D99999\\0\")", "has the character '\\0'")]
    [InlineData("o.N.ToString(\"F99999\\0x\")", "has the character '\\0'")]
    [InlineData("string.Format(\"{0:D99999\\0}\", o.N)", "has the character '\\0'")]
    [InlineData("string.Format(\"{0,999999999}\", o.N)", "a format of string.Format is invalid")]
    [InlineData("\"😀\".Substring(1)", "cut inside a surrogate pair")]
    [InlineData("\"😀\".Substring(0, 1).ToUpper()", "cut inside a surrogate pair")]
    [InlineData("\"😀x\".Remove(1)", "inside a surrogate pair")]
    [InlineData("\"x😀\".Contains(\"😀\".Substring(1))", "searches for a text that was cut")]
    public void The_error_says_why_C_sharp_cannot_map_a_document(string expression, string reason) =>
        Assert.Contains(
            reason,
            DefinitionExample.Map(
                $"docs.Orders.Select(o => new {{ v = {expression} }})",
                CSharpOrder.Document,
                "orders/1"
            ),
            StringComparison.Ordinal
        );

    /// <summary>Only a day that a date gave is a number.</summary>
    [Theory]
    [InlineData("(int)o.Day", "Monday")]
    [InlineData("(long)o.Day", "Saturday")]
    [InlineData("(int)o.Day", "Monday, Tuesday")]
    public void A_text_that_names_a_weekday_is_no_number(string expression, string day) =>
        Assert.Contains(
            "uses a cast on a string",
            DefinitionExample.Map(
                $"docs.Orders.Select(o => new {{ v = {expression} }})",
                $$$"""{"Day":"{{{day}}}","@metadata":{"@collection":"Orders"}}""",
                "orders/1"
            ),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("Math.Floor(o.None / 3)")]
    [InlineData("Math.Round(o.Missing, 2)")]
    [InlineData("Math.Max(o.None, 1)")]
    [InlineData("o.Missing.Year")]
    [InlineData("o.Missing.AddDays(1)")]
    [InlineData("(o.Shipped - o.Missing).TotalDays")]
    [InlineData("o.Missing.Keys")]
    [InlineData("o.Missing[\"k\"].Deeper")]
    [InlineData("o.Attr[\"weight\"]")]
    [InlineData("o.Missing.ToString(\"0.00\")")]
    [InlineData("o.Nothing.Split(',')")]
    [InlineData("(int)o.Missing")]
    [InlineData("int.Parse(o.Nothing)")]
    [InlineData("-o.None")]
    [InlineData("o.NoTags.Max()")]
    [InlineData("o.Missing.Average(x => x.n)")]
    public void Operations_on_null_return_null(string expression)
    {
        string row = DefinitionExample.Map(
            $"docs.Orders.Select(o => new {{ v = {expression}, w = 1 }})",
            CSharpOrder.Document,
            "orders/1"
        );
        Assert.Contains(row, (string[])["""{"w":1}""", """{"v":null,"w":1}"""]);
    }

    [Theory]
    [InlineData("new[] { o.S }.Concat(o.Missing)", """["Ann Lee"]""")]
    [InlineData("o.Missing.Concat(new[] { o.S })", """["Ann Lee"]""")]
    [InlineData("o.Missing.Count()", "0")]
    [InlineData("o.Missing.Sum(x => x.n)", "0")]
    [InlineData("o.Missing.Any()", "false")]
    [InlineData("o.Missing.Contains(\"x\")", "false")]
    [InlineData("o.Missing.HasValue", "false")]
    [InlineData("o.Missing && o.Flag", "false")]
    [InlineData("o.Missing || o.Flag", "true")]
    [InlineData("o.Missing > 3 || o.Missing <= 3", "false")]
    [InlineData("o.S + o.Missing", "\"Ann Lee\"")]
    [InlineData("from kv in o.Missing select kv.Key", "[]")]
    [InlineData("o.Took + o.Took", "\"2.04:06:09\"")]
    [InlineData("(string)o.At + o.Took", "\"2024-02-29T23:45:07.12345671.02:03:04.5000000\"")]
    [InlineData("o.Day + \"\" + o.Took", "\"2024-05-061.02:03:04.5000000\"")]
    [InlineData("o.At == \"2024-02-29T23:45:07.1234567\"", "true")]
    [InlineData("o.At.ToString(\"zzz\")", "\"+00:00\"")]
    [InlineData("o.At.ToString(\"U\")", "\"Thursday, 29 February 2024 23:45:07\"")]
    [InlineData("$\"{o.At:HH zz}\"", "\"23 +00\"")]
    [InlineData("o.At + TimeSpan.FromDays(1)", "\"2024-03-01T23:45:07.1234567\"")]
    [InlineData("o.Lines.Sum(l => l.Count)", "0")]
    public void Operations_on_null_and_on_documents_return_these_values(string expression, string value) =>
        Assert.Equal(
            $$"""{"v":{{value}}}""",
            DefinitionExample.Map(
                $"docs.Orders.Select(o => new {{ v = {expression} }})",
                CSharpOrder.Document,
                "orders/1"
            )
        );

    [Theory]
    [InlineData("""{"Value":5,"HasValue":false}""", """{"v":5,"h":false}""")]
    [InlineData("7", """{"v":7,"h":true}""")]
    [InlineData("null", """{"h":false}""")]
    public void Value_and_HasValue_are_members_of_objects_and_of_nullables(string value, string row)
    {
        string document = $$$"""{"A":{{{value}}},"@metadata":{"@collection":"Users"}}""";
        const string Map = "from o in docs.Users select new { v = o.A.Value, h = o.A.HasValue }";
        Assert.Equal(row, DefinitionExample.Map(Map, document));
    }

    [Theory]
    [InlineData("+14:00", """{"v":"2024"}""")]
    [InlineData("-14:00", """{"v":"2024"}""")]
    [InlineData("+13:59", """{"v":"2024"}""")]
    public void A_text_with_an_offset_of_at_most_14_hours_is_a_date(string offset, string row) =>
        Assert.Equal(row, YearOf(offset));

    [Theory]
    [InlineData("+14:01")]
    [InlineData("-14:30")]
    [InlineData("+15:00")]
    public void A_text_with_a_larger_offset_is_no_date(string offset) =>
        Assert.Contains("formats a string", YearOf(offset), StringComparison.Ordinal);

    [Theory]
    [InlineData("0001-01-01T02:00:00", "+02:00", "0001")]
    [InlineData("9999-12-31T22:59:59", "-01:00", "9999")]
    public void The_first_and_the_last_time_in_UTC_are_dates(string time, string offset, string year) =>
        Assert.Equal($$$"""{"v":"{{{year}}}"}""", YearOf(offset, time));

    [Theory]
    [InlineData("0001-01-01T01:59:59", "+02:00")]
    [InlineData("9999-12-31T23:00:00", "-01:00")]
    public void A_text_beyond_the_calendar_in_UTC_is_no_date(string time, string offset) =>
        Assert.Contains("formats a string", YearOf(offset, time), StringComparison.Ordinal);

    [Theory]
    [InlineData("0001-01-01T02:00:00", "+02:00", "-1")]
    [InlineData("9999-12-31T22:59:59", "-01:00", "1")]
    public void A_date_with_an_offset_does_not_leave_the_calendar_in_UTC(string time, string offset, string hours) =>
        Assert.Contains(
            "before the year 1 or after the year 9999",
            YearOf(offset, time, $"AddHours({hours})."),
            StringComparison.Ordinal
        );

    private static string YearOf(string offset, string time = "2024-01-01T00:00:00", string call = "") =>
        DefinitionExample.Map(
            $"from o in docs.Users select new {{ v = o.A.{call}ToString(\"yyyy\") }}",
            $$$"""{"A":"{{{time}}}{{{offset}}}","@metadata":{"@collection":"Users"}}"""
        );

    [Fact]
    public void Entries_of_a_dictionary_become_rows() =>
        Assert.Equal(
            "{\"Key\":\"color\",\"Value\":\"red\"}\n{\"Key\":\"size\",\"Value\":\"XL\"}",
            DefinitionExample.Map(
                "from o in docs.Orders from kv in o.Attr select new { kv.Key, kv.Value }",
                CSharpOrder.Document,
                "orders/1"
            )
        );

    [Fact]
    public void A_double_stays_a_double_when_its_row_is_reduced() =>
        Assert.Equal(
            """{"K":"a","Total":3.0,"Half":1.5}""",
            DefinitionExample.Reduce(
                "from r in results group r by r.K into g let t = g.Sum(x => x.Total) select new { K = g.Key, "
                    + "Total = t, Half = t / 2 }",
                """{"K":"a","Total":1.0,"Half":0}""",
                """{"K":"a","Total":2.0,"Half":0}"""
            )
        );
}
