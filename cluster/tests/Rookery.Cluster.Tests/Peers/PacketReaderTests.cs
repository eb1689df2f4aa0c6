using System.Buffers.Binary;
using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Tests.Peers;

/// <summary>Packets between members, as they are read from a stream.</summary>
public sealed class PacketReaderTests
{
    [Fact]
    public async Task Packets_are_read_as_written_however_the_stream_is_split()
    {
        for (int seed = 0; seed < 50; seed++)
        {
            var random = new Random(seed);
            byte[][] bodies =
            [
                .. Enumerable
                    .Range(0, 40)
                    .Select(number => Samples.Bytes(random, random.Next(number % 10 == 0 ? 300_000 : 2_000))),
            ];
            using var stream = new TricklingStream(random, [.. bodies.SelectMany(EncodePacket)]);
            using var reader = new PacketReader(stream, PeerProtocol.MaxBulkPacketBytes);
            foreach (byte[] expected in bodies)
            {
                byte[] actual = await NextAsync(reader);
                Assert.True(expected.AsSpan().SequenceEqual(actual), $"seed {seed}: a packet is read with other bytes");
            }

            Assert.False(await reader.FillAsync(CancellationToken.None));
        }
    }

    [Fact]
    public async Task An_announced_packet_takes_memory_only_as_it_arrives_and_until_it_is_read()
    {
        // A packet announces 39 MiB, of which 100,000 bytes arrive.
        byte[] announced = new byte[100_000];
        BinaryPrimitives.WriteInt32LittleEndian(announced, 39 << 20);
        using var stream = new MemoryStream(announced);
        using var reader = new PacketReader(stream, PeerProtocol.MaxBulkPacketBytes);
        while (await reader.FillAsync(CancellationToken.None))
        {
            Assert.False(reader.TryRead(out _, out _));
        }

        Assert.InRange(reader.HeldBytes, 100_000, 256 << 10);

        using var packets = new MemoryStream([
            .. EncodePacket(new byte[3 << 20]),
            .. EncodePacket([1]),
            .. EncodePacket([2]),
        ]);
        using var shrinking = new PacketReader(packets, PeerProtocol.MaxBulkPacketBytes);
        Assert.Equal(3 << 20, (await NextAsync(shrinking)).Length);
        Assert.InRange(shrinking.HeldBytes, 3 << 20, 4 << 20);
        await NextAsync(shrinking);
        await NextAsync(shrinking);
        Assert.False(await shrinking.FillAsync(CancellationToken.None));
        Assert.False(await shrinking.FillAsync(CancellationToken.None));
        // The buffer of an idle connection.
        Assert.Equal(16 << 10, shrinking.HeldBytes);
    }

    private static byte[] EncodePacket(byte[] body)
    {
        byte[] packet = new byte[PeerProtocol.PacketHeadBytes + body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(packet, body.Length + 1);
        packet[4] = (byte)PacketKind.Message;
        body.CopyTo(packet, PeerProtocol.PacketHeadBytes);
        return packet;
    }

    private static async Task<byte[]> NextAsync(PacketReader reader)
    {
        ReadOnlyMemory<byte> body;
        while (!reader.TryRead(out _, out body))
        {
            Assert.True(await reader.FillAsync(CancellationToken.None));
        }

        return body.ToArray();
    }

    /// <summary>A stream that returns pieces of random length.</summary>
    private sealed class TricklingStream(Random random, byte[] content) : MemoryStream(content)
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            base.ReadAsync(
                buffer[..Math.Min(buffer.Length, random.Next(1, random.Next(2) == 0 ? 10 : 40_000))],
                cancellationToken
            );
    }
}
