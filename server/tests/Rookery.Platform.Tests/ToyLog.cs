using System.Buffers.Binary;
using Rookery.Simulation;

namespace Rookery.Platform.Tests;

/// <summary>The mistakes that the log can make.</summary>
public enum ToyLogMistake
{
    None,
    AcknowledgesBeforeSync,
    ForgetsToSyncItsDirectory,
    TrustsTheLengthOfTheFile,
    RewritesItsHeaderInPlaceFirst,
    IgnoresAFailedSync,
}

/// <summary>A log of numbered records in two files, with an optional mistake that the crash search must find.</summary>
internal sealed class ToyLog
{
    private const int RecordBytes = 700;
    private readonly SimulatedDisk _disk = new("/log");
    private readonly ToyLogMistake _mistake;

    private ToyLog(ToyLogMistake mistake) => _mistake = mistake;

    /// <summary>The number of disk operations at the acknowledgement of each record.</summary>
    internal List<int> Acknowledged { get; } = [];

    internal static (SimulatedDisk Disk, ToyLog Log) Run(ToyLogMistake mistake, int seed)
    {
        var log = new ToyLog(mistake);
        log.Write(new Random(seed));
        return (log._disk, log);
    }

    /// <summary>Throws unless all records acknowledged before an operation are present.</summary>
    internal void Check(SimulatedDisk image, int operation)
    {
        int promised = Acknowledged.Count(acknowledgement => acknowledgement <= operation);
        int count = Recover(image);
        Assert.True(count >= promised, $"{promised} records were acknowledged, but {count} were found");
    }

    private void Write(Random random)
    {
        if (_mistake == ToyLogMistake.IgnoresAFailedSync)
        {
            _disk.Inject(new DiskFault(random.Next(1, 10), Errno.InputOutput) { Calls = DiskCalls.Sync });
        }

        for (int file = 0; file < 2; file++)
        {
            using var log = _disk.Open($"/log/{file}", DiskOpen.CreateNew);
            if (_mistake != ToyLogMistake.ForgetsToSyncItsDirectory)
            {
                _disk.SyncDirectory("/log");
            }

            int count = random.Next(5, 15);
            for (int i = 0; i < count; i++)
            {
                Append(log, i);
            }
        }
    }

    private void Append(IDiskFile log, int slot)
    {
        if (_mistake == ToyLogMistake.RewritesItsHeaderInPlaceFirst && slot > 0)
        {
            log.Write(Record(number: -1), (slot - 1) * RecordBytes); // destroys an acknowledged record for a moment
            log.Sync();
            log.Write(Record(Acknowledged.Count - 1), (slot - 1) * RecordBytes);
        }

        log.Write(Record(Acknowledged.Count), slot * RecordBytes);
        if (_mistake == ToyLogMistake.AcknowledgesBeforeSync)
        {
            Acknowledged.Add(_disk.OperationCount);
        }

        try
        {
            log.Sync();
        }
        catch (DiskException) when (_mistake == ToyLogMistake.IgnoresAFailedSync)
        {
            log.Sync();
        }

        if (_mistake != ToyLogMistake.AcknowledgesBeforeSync)
        {
            Acknowledged.Add(_disk.OperationCount);
        }
    }

    /// <summary>Returns the number of records that a start after the power cut finds.</summary>
    private int Recover(SimulatedDisk image)
    {
        int count = 0;
        foreach (string path in image.Files)
        {
            byte[] content = image.ReadAll(path);
            for (int offset = 0; offset + RecordBytes <= content.Length; offset += RecordBytes)
            {
                bool isWhole = content.AsSpan(offset, RecordBytes).SequenceEqual(Record(count));
                if (!isWhole && _mistake != ToyLogMistake.TrustsTheLengthOfTheFile)
                {
                    break;
                }

                Assert.True(isWhole, $"record {count} differs from the written one");
                count++;
            }
        }

        return count;
    }

    // A record has its number at its start and at its end.
    private static byte[] Record(int number)
    {
        byte[] record = new byte[RecordBytes];
        record.AsSpan().Fill((byte)(number + 1));
        BinaryPrimitives.WriteInt32LittleEndian(record, number);
        BinaryPrimitives.WriteInt32LittleEndian(record.AsSpan(RecordBytes - 4), number);
        return record;
    }
}
