using System.Collections;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text.Json;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>An expression in the text of an index has the value that the C# compiler's program has: each stands here once, as code, whose text is the index's.</summary>
public sealed class CSharpValueTests
{
#pragma warning disable CA1866, CA1862, CA1826, CA1841, RCS1155, CA1307, CA1309, CA1310, CA1311, CA1304, CA1305, CA1861, CA1845, CA1847, CA1846, CA1860, CA1827, CA1829, CA1834, MA0011, MA0074, MA0006, MA0002, MA0001, MA0076, MA0185, S6610, S1940, IDE0071, RCS1197, RCS1077 // The expressions are what people write in indexes.
    private static readonly Case[] Numbers =
    [
        new(o => o.N / 2), new(o => o.M / 2), new(o => o.M % 2), new(o => o.N / 2.0), new(o => o.W / 4), new(o => o.N * o.D), new(o => o.W), new(o => o.W + 1), new(o => o.N - 1.0), new(o => 7 / 2), new(o => 7 / 2 * 2.0),
        new(o => (double)o.N / 2), new(o => (decimal)o.N / 2), new(o => o.Price + 0.2m), new(o => (decimal)o.D * 1.10m), new(o => (decimal)o.Rate * o.N), new(o => o.Rate % 3m), new(o => o.Big + 1), new(o => o.Big * 2 - 1),
        new(o => (int)o.D), new(o => (int)-2.7), new(o => (long)o.Rate), new(o => (int)(o.N * o.D)), new(o => (float)o.D), new(o => -o.N), new(o => -o.D), new(o => +o.N), new(o => 0x1F), new(o => 10L), new(o => 1.50m), new(o => 2d),
        new(o => Math.Round(o.D)), new(o => Math.Round(3.5)), new(o => Math.Round(-2.5)), new(o => Math.Round(2.345, 2)), new(o => Math.Round(o.D, MidpointRounding.AwayFromZero)), new(o => Math.Round(2.25, 1, MidpointRounding.AwayFromZero)),
        new(o => Math.Round(o.Rate, 1)), new(o => Math.Round(2.5m)), new(o => Math.Floor(-2.5)), new(o => Math.Ceiling(o.D)), new(o => Math.Truncate(-2.7)), new(o => Math.Floor((decimal)o.Rate)), new(o => Math.Floor(o.N / 3.0)),
        new(o => Math.Abs(o.M)), new(o => Math.Abs(-2.5)), new(o => Math.Sign(o.M)), new(o => Math.Sign(-0.5)), new(o => Math.Max(o.N, 50)), new(o => Math.Max(o.N, 2.5)), new(o => Math.Min(o.Rate, 5m)), new(o => Math.Pow(o.N, 2)), new(o => Math.Sqrt(16)),
        new(o => Convert.ToInt32(2.5)), new(o => Convert.ToInt32(3.5)), new(o => Convert.ToInt32(o.Number)), new(o => Convert.ToInt64(o.Flag)), new(o => Convert.ToDouble(o.N)), new(o => Convert.ToDecimal(o.D)), new(o => Convert.ToBoolean(o.N)),
        new(o => int.Parse(o.Number)), new(o => int.Parse(" -5 ")), new(o => long.Parse(o.Number) + 1), new(o => double.Parse("1e3")), new(o => double.Parse("2.50")), new(o => decimal.Parse("1.50")), new(o => bool.Parse("true")),
        new(o => o.N > 2.5), new(o => o.N == 7.0), new(o => o.Price == 0.1m), new(o => o.Zero == 0 && o.N != 8 || o.Off), new(o => !o.Flag), new(o => o.Flag ? o.N : 0), new(o => o.None ?? 5), new(o => o.None + 1), new(o => o.None > 3), new(o => o.None == null), new(o => o.None.HasValue),
        new(o => o.Big == 9007199254740992), new(o => int.MaxValue), new(o => (o.N + o.M) * 2 - 10 / 4), new(o => 2000000000L * 3), new(o => o.N / 2 == 3), new(o => o.Small * 1), new(o => o.Third * 3),
    ];

    private static readonly Case[] Types =
    [
        new(o => (int)o.D * 2000000000), new(o => o.Tags.Length * int.MaxValue), new(o => (long)o.D * 2000000000),
        new(o => int.Parse("2147483647") + 1), new(o => 60 * 60 * 24 * 7), new(o => 2147483647 + 1L),
        new(o => 10L * 2147483647),
        new(o => 0.1f + 0.2f), new(o => (float)o.N / 3), new(o => (double)0.1f), new(o => "" + 0.1f),
        new(o => 1.5f * 2),
        new(o => (1 / 3f).ToString("0.00")), new(o => new[] { 0.1f, 0.2f }.Sum()), new(o => Math.Abs(-1.5f)),
        new(o => o.Flag ? 1 : 2.5), new(o => o.Off ? 1 : 2L), new(o => new[] { 1, 2.5 }),
        new(o => new List<double> { 1, 2 }),
        new(o => new[] { 2147483647, 1 }.Average()), new(o => new HashSet<string> { "a", "a" }.Count),
        new(o => o.Tags.LongCount() * 2147483647),
        new(o => 'a' + 1), new(o => 'a' + 'b'), new(o => o.S[0] + 1), new(o => o.S[1] - 'a'), new(o => o.S[0] > 'B'),
        new(o => o.S[0] + "x"),
        new(o => (int)o.S[0]), new(o => Convert.ToInt32('5')), new(o => o.S[0] == 65),
        new(o => o.S[0].ToString() + 1), new(o => "" + 'a'),
        new(o => o.N.Equals(7)), new(o => o.N.Equals(7.0)), new(o => o.N.Equals("7")), new(o => o.W.Equals(6)),
        new(o => 1.0m.Equals(1)),
        new(o => o.D.CompareTo(2.5)), new(o => o.Flag.CompareTo(false)), new(o => o.Path.Trim(null)),
        new(o => o.S.Split((string?)null)),
        new(o => Math.Pow(2, 0.5)), new(o => Math.Pow(10, -3)), new(o => Math.Pow(1.05, 12)), new(o => Math.Pow(-2, 3)),
    ];

    private static readonly Case[] Texts =
    [
        new(o => "" + o.Flag), new(o => o.S + o.N), new(o => o.N + o.S), new(o => "a" + null + o.Nothing), new(o => "" + o.D + o.W), new(o => "" + o.Small), new(o => "" + o.Third), new(o => "" + o.Price), new(o => "" + 1.50m), new(o => "" + 1e20), new(o => "" + o.Big),
        new(o => o.Flag.ToString()), new(o => o.N.ToString()), new(o => o.W.ToString()), new(o => o.N.ToString("D5")), new(o => o.D.ToString("0.00")), new(o => o.Rate.ToString("N1")), new(o => o.N.ToString("X")), new(o => Convert.ToString(o.Off)), new(o => (1e15).ToString()),
        new(o => o.S.Length), new(o => o.S.ToUpper()), new(o => o.Street.ToUpperInvariant()), new(o => o.Street.ToLowerInvariant()), new(o => o.Street.ToLower().Length), new(o => o.Blank.Trim()), new(o => o.Blank.TrimStart()), new(o => o.Path.Trim('/')), new(o => o.Path.TrimEnd('/', 'b')), new(o => "\uFEFFx\u0085".Trim().Length),
        new(o => o.S.Substring(4)), new(o => o.S.Substring(0, 3)), new(o => o.S.Contains("Lee")), new(o => o.S.Contains("lee")), new(o => o.S.Contains('L')), new(o => o.S.Contains("LEE", StringComparison.OrdinalIgnoreCase)), new(o => o.S.StartsWith("Ann")), new(o => o.S.EndsWith("LEE", StringComparison.OrdinalIgnoreCase)),
        new(o => o.S.IndexOf("e")), new(o => o.S.IndexOf('e', 6)), new(o => o.S.LastIndexOf("e")), new(o => o.S.IndexOf("zz")), new(o => o.S.Replace("e", "$&$1")), new(o => o.S.Replace("n", "")), new(o => o.S.PadLeft(9)), new(o => o.Number.PadLeft(5, '0')), new(o => o.S.PadRight(8) + "|"), new(o => o.S.Insert(3, "a")), new(o => o.S.Remove(3)), new(o => o.S.Remove(0, 4)),
        new(o => o.S.Split(' ')), new(o => o.Path.Split('/')), new(o => o.Path.Split(new[] { '/' }, StringSplitOptions.RemoveEmptyEntries)), new(o => o.Path.Split('/', StringSplitOptions.RemoveEmptyEntries)), new(o => "a, b;c".Split(',', ';')), new(o => "a--b-c".Split("--")), new(o => o.Empty.Split(',')), new(o => "a b\tc".Split()), new(o => "a,b,c".Split(',', 2)), new(o => o.S.Split("")), new(o => o.S.Split(' ').Last()),
        new(o => string.Join("-", o.Tags)), new(o => string.Join(", ", o.Numbers)), new(o => string.Join(",", o.S, o.Number)), new(o => string.Concat(o.S, "!", o.Number)), new(o => string.Format("{0}:{1:000}|{2,5}|{2,-5}|{{}}", o.S, o.N, o.D)), new(o => string.Format("{0:yyyy-MM} {1}", o.At, o.Flag)), new(o => $"{o.S} is {o.N} {o.D:0.00} {{x}}"), new(o => $"{o.Flag}{(o.N > 3 ? 1 : 2),4}"),
        new(o => string.IsNullOrEmpty(o.Empty)), new(o => string.IsNullOrEmpty(o.Nothing)), new(o => string.IsNullOrWhiteSpace(" \t")), new(o => string.IsNullOrWhiteSpace(o.S)), new(o => o.S == "Ann Lee"), new(o => o.S.Equals("ann lee")), new(o => o.S.Equals("ann lee", StringComparison.OrdinalIgnoreCase)), new(o => string.Equals(o.S, "Ann Lee")), new(o => string.CompareOrdinal("a", "B") > 0),
        new(o => o.Nothing == null), new(o => o.Nothing ?? "none"), new(o => o.Nothing?.Length), new(o => o.Nothing?.ToLower()), new(o => o.S?.Length), new(o => string.Empty), new(o => o.S[0] == 'A'), new(o => o.S[4].ToString()), new(o => o.S.ToLower().Contains("lee") && o.S.Length > 3), new(o => o.N + "" + o.N), new(o => o.N + o.N + ""),
    ];

    private static readonly Case[] Dates =
    [
        new(o => (o.Shipped - o.At).TotalDays), new(o => (o.Shipped - o.At).Days), new(o => (o.Shipped - o.At).TotalHours), new(o => o.Shipped - o.At), new(o => (o.At - o.Shipped).Minutes), new(o => o.At.Date), new(o => o.At.Year), new(o => o.At.Month), new(o => o.At.Day), new(o => o.At.Hour),
        new(o => o.At.Minute), new(o => o.At.Second), new(o => o.At.Millisecond), new(o => o.At.Ticks), new(o => o.At.DayOfWeek), new(o => o.At.DayOfWeek.ToString()), new(o => (int)o.At.DayOfWeek), new(o => o.At.DayOfWeek == DayOfWeek.Thursday), new(o => o.At.DayOfYear), new(o => o.At.TimeOfDay), new(o => o.At.TimeOfDay.TotalMinutes),
        new(o => o.At.AddDays(1)), new(o => o.At.AddDays(-0.5)), new(o => o.At.AddMonths(12)), new(o => o.At.AddYears(1)), new(o => o.At.AddHours(1.5)), new(o => o.At.AddMinutes(15)), new(o => o.At.AddSeconds(-8)), new(o => o.At.AddMilliseconds(1)), new(o => o.At.AddTicks(1)), new(o => o.At.Date.AddDays(1).Year), new(o => o.At.Add(o.Took)), new(o => o.Shipped.Subtract(o.At)), new(o => o.Shipped.Subtract(TimeSpan.FromDays(1))),
        new(o => o.At + o.Took), new(o => o.At - TimeSpan.FromHours(1)), new(o => o.At < o.Shipped), new(o => o.At >= new DateTime(2024, 2, 29)), new(o => o.At == o.At.Date), new(o => o.Utc.Date), new(o => o.Utc.AddHours(2)), new(o => o.Utc.Year), new(o => new DateTime(2024, 5, 6, 7, 8, 9)), new(o => new DateTime(o.At.Year, o.At.Month, 1)), new(o => new DateTime(2024, 5, 6, 0, 0, 0, DateTimeKind.Utc)), new(o => DateTime.MinValue), new(o => o.At > DateTime.MinValue),
        new(o => o.At.ToString("yyyy-MM-dd")), new(o => o.At.ToString("MMM yyyy")), new(o => o.At.ToString("d")), new(o => o.At.Date.ToString()), new(o => "" + o.At.Date), new(o => o.Utc.ToString("o")), new(o => DateTime.Parse("2024-05-06T07:08:09").Hour), new(o => DateTime.Parse("2024-05-06")), new(o => o.At.CompareTo(o.Shipped)),
        new(o => o.Took), new(o => o.Took.Days), new(o => o.Took.Hours), new(o => o.Took.Milliseconds), new(o => o.Took.TotalHours), new(o => o.Took.TotalSeconds), new(o => o.Took.Ticks), new(o => o.Took + TimeSpan.FromMinutes(30)), new(o => o.Took > TimeSpan.FromDays(1)), new(o => o.Took.ToString()), new(o => o.Took.ToString("hh\\:mm")), new(o => -o.Took), new(o => o.Took * 2), new(o => o.Took / 2), new(o => TimeSpan.FromSeconds(90)), new(o => new TimeSpan(1, 2, 3)), new(o => TimeSpan.Zero), new(o => TimeSpan.Parse("02:03:04").Minutes), new(o => o.Took.Negate().Duration()), new(o => o.Took - o.Took == TimeSpan.Zero),
        new(o => o.Zoned.Year), new(o => o.Zoned.Hour), new(o => o.Zoned.UtcDateTime), new(o => o.Zoned.DateTime), new(o => o.Zoned.Offset), new(o => o.Zoned.AddDays(1)), new(o => o.Zoned.Date), new(o => o.Day.Year), new(o => o.Day.AddDays(1)), new(o => o.Day.AddMonths(-3)), new(o => o.Day.DayOfWeek), new(o => o.Day.DayNumber), new(o => new DateOnly(2024, 1, 31).AddMonths(1)), new(o => o.Day < new DateOnly(2025, 1, 1)), new(o => o.Day.ToString("yyyyMMdd")),
    ];

    private static readonly Case[] Times =
    [
        new(o => o.At.ToString()), new(o => "" + o.At), new(o => o.At + "x"), new(o => o.At + " " + o.Took),
        new(o => o.Utc.ToString()),
        new(o => o.Zoned.ToString()), new(o => $"{o.At}|{o.Took}"), new(o => string.Format("{0}", o.At)),
        new(o => string.Join(",", o.At, o.Took)),
        new(o => Convert.ToString(o.At)), new(o => o.At.ToString("yyyy-MM-dd") + o.Took),
        new(o => "2024-05-06T07:08:09" + o.Took),
        new(o => "01:00:00" + "02:00:00"), new(o => o.Took.ToString() + o.Took),
        new(o => "2024-05-06" == "2024-05-06T00:00:00"),
        new(o => "2024-05-06T00:00:00".Equals("2024-05-06")), new(o => new[] { "00:00:01", "00:00:01.0" }.Distinct()),
        new(o => new[] { "1.00:00:00", "02:00:00" }.Max()), new(o => new[] { "01:00:00" }.Contains("1:00:00")),
        new(o => o.At.Microsecond), new(o => o.At.Nanosecond), new(o => TimeSpan.Parse("02:03")),
        new(o => TimeSpan.Parse(" 1.02:03:04 ")),
        new(o => o.At.ToString("%K")), new(o => o.Utc.ToString("%K")), new(o => o.Utc.ToString("zzz")),
        new(o => o.Zoned.ToString("zzz")),
        new(o => o.Zoned.ToString("R")), new(o => o.Utc.ToString("U")), new(o => o.At.ToString("u")),
        new(o => o.Took.ToString("G")),
    ];

    private static readonly Case[] Sequences =
    [
        new(o => o.Tags.Length), new(o => o.Lines.Count), new(o => o.Tags.Count()), new(o => o.Lines.Count(l => l.Quantity > 0)), new(o => o.Tags.Distinct()), new(o => o.Tags.Contains("a")), new(o => o.Numbers.Contains(2)), new(o => new[] { o.S }.Concat(o.Tags)), new(o => o.Tags.Union(new[] { "c", "a" })), new(o => o.Tags.Except(new[] { "a" })), new(o => o.Tags.Intersect(new[] { "a", "x" })), new(o => o.Tags.Append("z")), new(o => o.Tags.Prepend("z")),
        new(o => o.Numbers.Sum()), new(o => o.Numbers.Sum() / 4), new(o => o.Reals.Sum()), new(o => o.Reals.Sum() / 3), new(o => o.Numbers.Average()), new(o => o.Numbers.Max()), new(o => o.Numbers.Min()), new(o => o.Lines.Sum(l => l.Quantity * l.Price)), new(o => o.Lines.Sum(l => (decimal)l.Price)), new(o => o.Lines.Sum(l => l.Quantity)), new(o => o.Lines.Max(l => l.Price)), new(o => o.Lines.Min(l => l.Product)), new(o => o.Lines.Average(l => l.Quantity)), new(o => o.NoTags.Count()), new(o => o.NoTags.Any()), new(o => o.NoTags.FirstOrDefault()), new(o => o.NoTags.DefaultIfEmpty("x")),
        new(o => o.Lines.Select(l => l.Product)), new(o => o.Lines.Where(l => l.Price > 1.5).Select(l => l.Product).ToList()), new(o => o.Lines.Any(l => l.Quantity == 0)), new(o => o.Lines.All(l => l.Price > 1)), new(o => o.Lines.First().Product), new(o => o.Lines.First(l => l.Quantity == 3).Product), new(o => o.Lines.LastOrDefault(l => l.Quantity == 99)), new(o => o.Lines.Single(l => l.Quantity == 3).Price), new(o => o.Tags[1]), new(o => o.Lines[2].Quantity), new(o => o.Tags.ElementAt(0)), new(o => o.Tags.ElementAtOrDefault(9)), new(o => o.Numbers.Skip(1).Take(1)), new(o => o.Numbers.Reverse()), new(o => o.Tags.Select((t, i) => t + i)),
        new(o => o.Numbers.OrderBy(n => n)), new(o => o.Lines.OrderByDescending(l => l.Price).First().Product), new(o => o.Lines.OrderBy(l => l.Quantity > 0).ThenByDescending(l => l.Product).Select(l => l.Product)), new(o => o.Numbers.Aggregate(0, (a, n) => a + n)), new(o => o.Lines.SelectMany(l => l.Product.Split('y'))), new(o => o.Tags.SequenceEqual(new[] { "b", "a", "b" })), new(o => o.Lines.Select(l => new { l.Quantity, Big = l.Quantity > 2 }).Where(x => x.Big).Select(x => x.Quantity)), new(o => o.Lines.Select(l => new { X = l.Quantity > 2 }).Distinct().Count()),
        new(o => o.Attr["color"]), new(o => o.Attr.Keys), new(o => o.Attr.Values), new(o => o.Attr.Count), new(o => o.Attr.ContainsKey("size")), new(o => o.Attr.ContainsKey("weight")), new(o => o.Attr.Select(kv => kv.Key + "=" + kv.Value)), new(o => from kv in o.Attr where kv.Key == "size" select kv.Value), new(o => o.Attr.Any(kv => kv.Value == "red")), new(o => o.Attr.Keys.Contains("color")), new(o => o.Attr.First().Key), new(o => o.Attr.OrderByDescending(kv => kv.Key).First().Value),
        new(o => new[] { o.N, 1 }), new(o => new List<string> { o.S }.Count), new(o => new List<string>()), new(o => new { o.N, Inner = new { o.S } }), new(o => o.Tags.Select(t => t.ToUpper()).OrderBy(t => t).Distinct().ToArray()), new(o => from l in o.Lines from c in o.Tags where l.Quantity > 2 select l.Product + c), new(o => o.Numbers.Where(n => n > 1).Sum(n => n * 2)),
    ];
#pragma warning restore

    private static Case[] All => [.. Numbers, .. Types, .. Texts, .. Dates, .. Times, .. Sequences];

    public static TheoryData<string> Expressions => new([.. All.Select(static one => one.Text)]);

    [Theory]
    [MemberData(nameof(Expressions))]
    public void An_expression_has_the_value_of_the_compiler(string text)
    {
        var known = All.First(one => string.Equals(one.Text, text, StringComparison.Ordinal));
        object? value = known.Value(new CSharpOrder());
        string row = DefinitionExample.Map($"docs.Orders.Select(o => new {{ v = {text["o => ".Length..]}, always = true }})", CSharpOrder.Document, "orders/1");

        // What is undefined is left out.
        Assert.Equal(Json(value), row is "{\"always\":true}" ? "null" : row.Replace("{\"v\":", "", StringComparison.Ordinal).Replace(",\"always\":true}", "", StringComparison.Ordinal));
    }

    private static string Json(object? value) => value switch
    {
        null => "null",
        string text => JsonSerializer.Serialize(text, Options),
        bool truth => truth ? "true" : "false",
        double number => WithPoint(number.ToString(CultureInfo.InvariantCulture)),
        float number => WithPoint(number.ToString(CultureInfo.InvariantCulture)),
        DateTime date => Json(date.ToString(date.Kind == DateTimeKind.Utc ? "yyyy-MM-ddTHH:mm:ss.fffffffZ" : "yyyy-MM-ddTHH:mm:ss.fffffff", CultureInfo.InvariantCulture)),
        DateTimeOffset date => Json(date.ToString("yyyy-MM-ddTHH:mm:ss.fffffffzzz", CultureInfo.InvariantCulture)),
        DateOnly day => Json(day.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture)),
        TimeSpan span => Json(span.ToString("c", CultureInfo.InvariantCulture)),
        Enum choice => Json(choice.ToString()),
        IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
        IEnumerable values => $"[{string.Join(',', values.Cast<object?>().Select(Json))}]",
        _ => JsonSerializer.Serialize(value, value.GetType(), Options),
    };

    private static readonly JsonSerializerOptions Options = new() { Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private static string WithPoint(string number) => number is "1E-07" ? "1e-7" : number.AsSpan().IndexOfAny('.', 'E') < 0 ? number + ".0" : number;

    private sealed record Case(Func<CSharpOrder, object?> Value, [CallerArgumentExpression(nameof(Value))] string Text = "");
}
