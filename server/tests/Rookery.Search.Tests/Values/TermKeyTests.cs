using System.Globalization;
using System.Numerics;
using System.Text;
using CsCheck;
using Rookery.Search.Values;
using Rookery.Simulation;

namespace Rookery.Search.Tests.Values;

/// <summary>The encoding of JSON values as index terms, whose bytes sort like the values.</summary>
public sealed class TermKeyTests
{
    [Theory]
    [InlineData("1", "1.0")]
    [InlineData("1", "1e0")]
    [InlineData("1", "0.1E+1")]
    [InlineData("-0", "0")]
    [InlineData("0.0e99", "-0.000")]
    [InlineData("100", "1e2")]
    [InlineData("\"Ann\"", "\"aNN\"")]
    [InlineData("\"\\u00c4rger\"", "\"\u00e4RGER\"")]
    [InlineData("\"2026-11-21T09:49:45.2120000\"", "\"2026-11-21T09:49:45.212Z\"")]
    [InlineData("\"2026-11-21T10:49:45.212+01:00\"", "\"2026-11-21T09:49:45.212Z\"")]
    [InlineData("1e99999", "1e88888")]
    public void Equal_values_have_equal_keys(string one, string other) => Assert.Equal(Key(one), Key(other));

    [Theory]
    [InlineData("9007199254740992", "9007199254740993")]
    [InlineData("5", "\"5\"")]
    [InlineData("true", "\"true\"")]
    [InlineData("null", "\"\"")]
    [InlineData("0", "1e-300")]
    [InlineData("\"stra\u00dfe\"", "\"strasse\"")]
    [InlineData("\"2026-13-21T09:49:45\"", "\"2026-13-21T09:49:45Z\"")]
    [InlineData("{\"a\":1}", "{\"a\":1.0}")]
    public void Different_values_have_different_keys(string one, string other) => Assert.NotEqual(Key(one), Key(other));

    [Fact]
    public void Keys_are_ordered_by_kind_and_then_as_their_values()
    {
        string[] ordered =
        [
            "null",
            "false",
            "true",
            "-1e16384",
            "-1e400",
            "-9007199254740993",
            "-9007199254740992",
            "-123.5",
            "-123",
            "-12.4",
            "-12.39",
            "-1",
            "-0.5",
            "-1e-300",
            "0",
            "1e-300",
            "0.12",
            "0.123",
            "0.2",
            "1",
            "1.5",
            "9.99",
            "10",
            "12",
            "123",
            "9007199254740992",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775808",
            "1e19",
            "1e308",
            "1e400",
            "\"\"",
            "\"2026-11\"",
            "\"2026-11-21\"",
            "\"2026-11-21T09:49:45Z\"",
            "\"2026-11-21T09:49:45.5\"",
            "\"2026-11-22T00:30:00+01:00\"",
            "\"2026-12-01\"",
            "\"ab\"",
            "\"ABC\"",
            "\"b\"",
            "\"\u00c4\"",
            "\"\ud83d\ude00\"",
            "{\"a\":1}",
        ];
        for (int index = 1; index < ordered.Length; index++)
        {
            Assert.True(
                Key(ordered[index - 1]).AsSpan().SequenceCompareTo(Key(ordered[index])) < 0,
                $"the key of {ordered[index - 1]} does not sort before that of {ordered[index]}"
            );
        }
    }

    [Fact]
    public void The_order_of_random_numbers_is_that_of_their_exact_values() =>
        Numbers
            .Array[1, 40]
            .CheckEach(
                400,
                static texts =>
                {
                    foreach (string a in texts)
                    {
                        foreach (string b in texts)
                        {
                            Assert.Equal(
                                Exact(a).CompareTo(Exact(b)),
                                Math.Sign(Key(a).AsSpan().SequenceCompareTo(Key(b)))
                            );
                        }
                    }
                }
            );

    [Theory]
    [InlineData("0", "-0.0")]
    [InlineData("1", "1.000")]
    [InlineData("-12.5", "-1.25e1")]
    [InlineData("123000", "123e3")]
    [InlineData("0.00012", "1.2e-4")]
    [InlineData("1.2e-9", "0.0000000012")]
    [InlineData("1e+30", "1000000000000000000000000000000")]
    [InlineData("9223372036854775807", "9223372036854775807")]
    [InlineData("null", "null")]
    [InlineData("true", "true")]
    [InlineData("\"ann \\\"b\\\"\"", "\"ANN \\\"B\\\"\"")]
    [InlineData("\"2026-11-21t09:49:45.2120000\"", "\"2026-11-21T09:49:45.212Z\"")]
    public void A_key_can_be_decoded_to_its_value(string expected, string json)
    {
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        TermKey.WriteJson(Key(json), output);
        Assert.Equal(expected, Encoding.UTF8.GetString(output.WrittenSpan));
    }

    [Fact]
    public void Random_numbers_survive_encoding_and_decoding() =>
        Numbers.CheckEach(
            2000,
            static text =>
            {
                var output = new System.Buffers.ArrayBufferWriter<byte>();
                TermKey.WriteJson(Key(text), output);
                Assert.Equal(Exact(text), Exact(Encoding.UTF8.GetString(output.WrittenSpan)));
            }
        );

    [Fact]
    public void Exact_texts_are_compared_with_case()
    {
        Assert.NotEqual(Key("\"Ann\"", isExact: true), Key("\"ann\"", isExact: true));
        Assert.NotEqual(Key("\"ann\"", isExact: true), Key("\"ann\""));
        Assert.Equal(Key("5", isExact: true), Key("5"));
    }

    [Fact]
    public void Long_texts_are_distinguished_by_all_their_characters()
    {
        string head = new('x', TermKey.MaxTextBytes);
        Assert.False(TermKey.IsTruncated(Key($"\"{head}\"")));
        byte[] one = Key($"\"{head}a\"");
        Assert.True(TermKey.IsTruncated(one));
        Assert.Equal(one, Key($"\"{head.ToUpperInvariant()}A\""));
        Assert.NotEqual(one, Key($"\"{head}b\""));
        Assert.True(Key($"\"{head}\"").AsSpan().SequenceCompareTo(one) < 0);
        Assert.NotEqual(Key($"\"{head}a\"", isExact: true), Key($"\"{head}A\"", isExact: true));
    }

    [Theory]
    [InlineData(511)]
    [InlineData(512)]
    [InlineData(4095)]
    [InlineData(4096)]
    [InlineData(100_000)]
    public void Long_texts_fold_alike_wherever_a_piece_ends(int letters)
    {
        string text =
            new string('a', letters) + string.Concat(Enumerable.Repeat("\u023a\u0130\u00c4\ud801\udc00Z", 2000));
        Assert.Equal(Key($"\"{text}\""), Key($"\"{text.ToLowerInvariant()}\""));
    }

    internal static byte[] Key(string json, bool isExact = false)
    {
        byte[] key = new byte[TermKey.MaxBytes];
        return key[..TermKey.Write(Encoding.UTF8.GetBytes(json), isExact, key)];
    }

    private static readonly Gen<string> Numbers = Gen.Select(
        Gen.OneOf("", "-"),
        Gen.OneOf(Gen.Const(0L), Gen.Long[1, 199], Gen.Long[1, long.MaxValue]),
        Gen.OneOf(
            Gen.Const(""),
            Gen.Select(Gen.Int[0, 1999], Gen.Int[1, 5], static (value, digits) => "." + $"{value}".PadLeft(digits, '0'))
        ),
        Gen.Frequency((2, Gen.Const("")), (1, Gen.Int[-30, 29].Select(static power => $"e{power}"))),
        static (sign, whole, fraction, exponent) => $"{sign}{whole}{fraction}{exponent}"
    );

    /// <summary>Returns a number as an integer multiple of 10^-100.</summary>
    private static BigInteger Exact(string text)
    {
        string[] parts = text.Split('e');
        int point = parts[0].IndexOf('.', StringComparison.Ordinal);
        int decimals = point < 0 ? 0 : parts[0].Length - point - 1;
        int exponent = parts.Length == 1 ? 0 : int.Parse(parts[1], CultureInfo.InvariantCulture);
        return BigInteger.Parse(parts[0].Replace(".", "", StringComparison.Ordinal), CultureInfo.InvariantCulture)
            * BigInteger.Pow(10, 100 + exponent - decimals);
    }
}
