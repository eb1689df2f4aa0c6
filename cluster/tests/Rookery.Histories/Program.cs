using Rookery.Histories;

if (args is not ["check", var path])
{
    Console.Error.WriteLine(
        "usage: history check FILE (a line of JSON for each operation; - for standard input). Ends with 1 when "
            + "nothing explains what clients were told, with 2 when too little was searched for an order."
    );
    return 64;
}

using var lines = string.Equals(path, "-", StringComparison.Ordinal) ? Console.In : File.OpenText(path);
var report = HistoryReport.Of(HistoryFile.Read(lines));
Console.WriteLine(report.ToString());
return report.IsProof ? 0
    : report.Violations.Count > 0 ? 1
    : 2;
