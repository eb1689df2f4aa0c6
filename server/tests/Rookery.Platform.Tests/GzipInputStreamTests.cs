using System.Buffers.Binary;
using System.IO.Compression;
using System.Text;
using Rookery.Platform.Compression;

namespace Rookery.Platform.Tests;

/// <summary>Decompression of gzip input that arrives in pieces, may have several members and may be damaged.</summary>
public sealed class GzipInputStreamTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Members_of_every_length_are_read_in_pieces_of_every_size(bool isAsync)
    {
        var random = new Random(1);
        for (int round = 0; round < 60; round++)
        {
            byte[][] parts = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => Content(random))];
            byte[] packed = [.. parts.SelectMany(part => Pack(part, random))];
            byte[] read = await ReadAllAsync(packed, random, isAsync);
            Assert.Equal(parts.SelectMany(static part => part), read);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Bytes_after_the_last_member_are_refused_with_their_offset(bool isAsync)
    {
        var random = new Random(2);
        for (int round = 0; round < 60; round++)
        {
            byte[] packed = [.. Enumerable.Range(0, random.Next(1, 3)).SelectMany(_ => Pack(Content(random), random))];
            byte[] trailing = new byte[random.Next(1, 20_000)];
            random.NextBytes(trailing);
            trailing[0] = 7;
            var refused = await Assert.ThrowsAsync<TrailingBytesException>(() =>
                ReadAllAsync([.. packed, .. trailing], random, isAsync)
            );
            Assert.Contains($"byte {packed.Length},", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Input_that_is_cut_off_or_has_a_wrong_byte_in_a_trailer_is_refused()
    {
        var random = new Random(3);
        byte[] first = Pack("one"u8.ToArray(), random, hasOptionalFields: true);
        byte[] packed =
        [
            .. first,
            .. Pack(Encoding.UTF8.GetBytes(new string('x', 300) + "two"), random, hasOptionalFields: true),
        ];
        for (int length = 1; length < packed.Length; length++)
        {
            if (length != first.Length)
            {
                await AssertRefusedAsync(packed[..length], random, isAsync: false);
            }
        }

        for (int fromEnd = 1; fromEnd <= 8; fromEnd++)
        {
            byte[] damaged = [.. packed];
            damaged[^fromEnd] ^= 1;
            await AssertRefusedAsync(damaged, random, isAsync: true);
        }
    }

    private static async Task AssertRefusedAsync(byte[] packed, Random random, bool isAsync)
    {
        var refused = await Record.ExceptionAsync(() => ReadAllAsync(packed, random, isAsync));
        Assert.True(refused is InvalidDataException or TrailingBytesException, $"{packed.Length}: {refused}");
    }

    private static byte[] Content(Random random)
    {
        byte[] content = new byte[random.Next(4) == 0 ? random.Next(3) : random.Next(40_000)];
        random.NextBytes(content);
        if (random.Next(2) == 0)
        {
            content.AsSpan().Fill((byte)random.Next(2));
        }

        return content;
    }

    /// <summary>Packs one member, with every optional field in its header; null decides that at random.</summary>
    private static byte[] Pack(byte[] content, Random random, bool? hasOptionalFields = null)
    {
        var packed = new MemoryStream();
        var level = random.Next(2) == 0 ? CompressionLevel.NoCompression : CompressionLevel.Fastest;
        using (var gzip = new GZipStream(packed, level, leaveOpen: true))
        {
            gzip.Write(content);
            if (content.Length == 0)
            {
                // Without a write, GZipStream leaves no member at all.
                gzip.Flush();
            }
        }

        byte[] member = packed.ToArray();
        if (member.Length == 0)
        {
            // The member of no bytes: header, an empty block, checksum and length.
            member = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        }

        if (!(hasOptionalFields ?? (random.Next(2) == 0)))
        {
            return member;
        }

        member[3] = 0x1F; // the flags: text, checksum of the header, extra field, name, comment
        byte[] extra = new byte[random.Next(20_000)];
        byte[] length = new byte[2];
        BinaryPrimitives.WriteUInt16LittleEndian(length, (ushort)extra.Length);
        return [.. member[..10], .. length, .. extra, .. "name\0a comment\0"u8, 1, 2, .. member[10..]];
    }

    private static async Task<byte[]> ReadAllAsync(byte[] packed, Random random, bool isAsync)
    {
        await using var reader = new GzipInputStream(new Pieces(packed, random.Next(1, 20_000)));
        var read = new MemoryStream();
        byte[] buffer = new byte[random.Next(1, 9000)];
        while (true)
        {
            int count = isAsync ? await reader.ReadAsync(buffer) : ReadOnce(reader, buffer);
            if (count == 0)
            {
                return read.ToArray();
            }

            read.Write(buffer, 0, count);
        }
    }

    private static int ReadOnce(GzipInputStream reader, byte[] buffer) => reader.Read(buffer, 0, buffer.Length);

    /// <summary>Returns a limited number of bytes in each read.</summary>
    private sealed class Pieces(byte[] bytes, int maxBytes) : MemoryStream(bytes)
    {
        public override int Read(byte[] buffer, int offset, int count) =>
            base.Read(buffer, offset, Math.Min(maxBytes, count));

        public override int Read(Span<byte> buffer)
        {
            byte[] copy = new byte[buffer.Length];
            int count = Read(copy, 0, copy.Length);
            copy.AsSpan(0, count).CopyTo(buffer);
            return count;
        }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            ValueTask.FromResult(Read(buffer.Span));
    }
}
