using System.Text;
using Rookery.Documents.Revisions;
using Rookery.Platform;

namespace Rookery.Documents.Tests.Revisions;

/// <summary>Contents of revisions as differences from newer ones.</summary>
public sealed class RevisionDeltaTests
{
    [Theory]
    [InlineData("", "")]
    [InlineData("", "abc")]
    [InlineData("abc", "")]
    [InlineData("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz")]
    [InlineData("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaa")]
    public void A_delta_gives_the_older_content_again(string older, string newer) =>
        AssertDecodes(Encoding.ASCII.GetBytes(older), Encoding.ASCII.GetBytes(newer));

    [Fact]
    public void Random_changes_are_encoded_and_decoded()
    {
        var random = new Random(3);
        for (int round = 0; round < 300; round++)
        {
            byte[] newer = NextBytes(random, random.Next(4000));
            var older = newer.ToList();
            for (int change = random.Next(6); change > 0 && older.Count > 0; change--)
            {
                int at = random.Next(older.Count);
                switch (random.Next(3))
                {
                    case 0:
                        older.RemoveRange(at, random.Next(older.Count - at));
                        break;
                    case 1:
                        older.InsertRange(at, NextBytes(random, random.Next(50)));
                        break;
                    default:
                        older.InsertRange(random.Next(older.Count), older.Skip(at).Take(random.Next(500)).ToArray());
                        break;
                }
            }

            AssertDecodes([.. older], newer);
        }
    }

    [Fact]
    public void A_moved_part_of_a_document_is_found()
    {
        var random = new Random(4);
        byte[] first = NextBytes(random, 1000);
        byte[] second = NextBytes(random, 1000);
        Assert.InRange(AssertDecodes([.. first, .. second], [.. second, .. first]), 1, 100);
    }

    private static int AssertDecodes(byte[] older, byte[] newer)
    {
        var delta = new PooledBytes();
        var decoded = new PooledBytes();
        new RevisionDelta().Encode(delta, older, newer);
        RevisionDelta.Decode(decoded, delta.Written, newer);
        Assert.Equal(older, decoded.Written.ToArray());
        return delta.Length;
    }

    private static byte[] NextBytes(Random random, int count)
    {
        byte[] bytes = new byte[count];
        random.NextBytes(bytes);
        return bytes;
    }
}
