namespace Rookery.Platform.Tests;

public sealed class Blake2bTests
{
    // From Python's hashlib.blake2b(data, digest_size=32).
    [Theory]
    [InlineData(0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8")]
    [InlineData(1, "e88bd757ad5b9bedf372d8d3f0cf6c962a469db61a265f6418e1ffed86da29ec")]
    [InlineData(127, "c9ae3859964b35f04c54b36d33cf299d7290ee621005d28e51598a943560aaaa")]
    [InlineData(128, "f0501d06597880592bc49234eef100ec1ff349058d0e9d9b753504e24af86dd6")]
    [InlineData(129, "a34a4e1e03c541dfbf3099c4b6c143c022ced65c28bd7e8a10e0a098461aecf0")]
    [InlineData(256, "d93ebb9c802f5630ab22516fd82b6c21bc8bd551d531349b715f046ed11ed871")]
    [InlineData(1000, "d62b6c768ce1afc8367e0498ab2f8e3f7c178c35b1429f14c4604b545d200f52")]
    [InlineData(65536, "627c00cfc2d310043c8ce5df784509b8ad2ff85ade846de87100e4a0d539c3fb")]
    public void The_hash_equals_that_of_other_programs_however_the_data_are_split(int length, string expected)
    {
        byte[] data = [.. Enumerable.Range(0, length).Select(i => (byte)((i * 7) + 3))];
        foreach (int part in (int[])[1, 127, 128, 129, 1 << 20])
        {
            var hash = new Blake2b();
            for (int at = 0; at < length; at += part)
            {
                hash.Append(data.AsSpan(at, Math.Min(part, length - at)));
            }

            byte[] result = new byte[Blake2b.HashBytes];
            hash.Finish(result);
            Assert.Equal(expected, Convert.ToHexStringLower(result));
        }
    }
}
