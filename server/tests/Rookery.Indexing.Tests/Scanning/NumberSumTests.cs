using System.Text;
using Rookery.Disk;
using Rookery.Json;

namespace Rookery.Indexing.Tests.Scanning;

public sealed class NumberSumTests
{
    private static readonly string[] Numbers =
    [
        "1",
        "0.1",
        "0.2",
        "1e25",
        "-1e25",
        "3e-20",
        "1.2345678901234567e-5",
        "7.7e-30",
        "123456789012345678901.5",
        "1e400",
        "-1e400",
        "5e-324",
        "-0",
        "9007199254740993",
        "-2.5e300",
    ];

    [Fact]
    public void A_sum_is_the_same_in_whatever_order_and_in_whatever_parts_it_is_added()
    {
        var random = new Random(5);
        for (int round = 0; round < 500; round++)
        {
            string[] added =
            [
                .. Enumerable.Range(0, random.Next(1, 12)).Select(_ => Numbers[random.Next(Numbers.Length)]),
            ];
            string expected = Written(Of(added));
            random.Shuffle(added);
            Assert.Equal(expected, Written(Of(added)));
            int cut = random.Next(added.Length + 1);
            var parts = Again(Of(added[..cut]));
            parts.Add(Again(Of(added[cut..])));
            Assert.Equal(expected, Written(Again(parts)));
        }
    }

    [Theory]
    [InlineData("0.3", "0.1", "0.2")]
    [InlineData("9007199254740996", "9007199254740993", "3")]
    [InlineData("1E+25", "1e25")]
    [InlineData("1.25E-30", "1.25e-30")]
    [InlineData("5E-324", "5e-324")]
    [InlineData("-2.2250738585072014E-308", "-2.2250738585072014e-308")]
    [InlineData("1", "1e25", "1", "-1e25")]
    [InlineData("1.7976931348623157E+308", "1e400", "1e400", "-1")]
    [InlineData("0", "1e400", "-1e400")]
    public void Numbers_of_any_size_are_added(string sum, params string[] numbers) =>
        Assert.Equal(sum, Written(Of(numbers)).Split(' ')[0]);

    [Theory]
    [InlineData("1e308 1e308 1e308", 1e308)]
    [InlineData("1e308 1e308 1 1", 5e307)]
    [InlineData("-1e308 -1e308 -1e308 -1e308", -1e308)]
    [InlineData("1e300 -1e300 9", 3)]
    public void The_average_is_right_where_the_sum_is_beyond_doubles(string numbers, double expected)
    {
        byte[] text = new byte[NumberSum.MostBytes];
        int length = Of(numbers.Split(' ')).WriteAverage(text);
        Assert.Equal(expected, double.Parse(text.AsSpan(0, length), System.Globalization.CultureInfo.InvariantCulture));
    }

    private static NumberSum Of(string[] numbers)
    {
        var sum = default(NumberSum);
        Array.ForEach(numbers, number => sum.Add(Encoding.ASCII.GetBytes(number)));
        return sum;
    }

    private static NumberSum Again(NumberSum sum)
    {
        var parts = new PooledBytes();
        sum.WriteParts(parts);
        var read = NumberSum.ReadParts(parts.Written);
        parts.Release();
        return read;
    }

    private static string Written(NumberSum sum)
    {
        byte[] room = new byte[64];
        return $"{Encoding.ASCII.GetString(room, 0, sum.Write(room))} "
            + $"{Encoding.ASCII.GetString(room, 0, sum.WriteAverage(room))}";
    }
}
