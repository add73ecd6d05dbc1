"""Makes the documents of this folder: python make.py

Needs python-docx, python-pptx, openpyxl and ebooklib.
"""

import datetime
import os
import re
import zipfile

import docx
import openpyxl
import pptx
from docx.enum.text import WD_BREAK
from ebooklib import epub
from openpyxl.styles import Font
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

WHEN = datetime.datetime(2026, 3, 1, 9, 30)


def settled(path):
    """Writes an archive again with one date everywhere, so that it stays the same."""
    with zipfile.ZipFile(path) as z:
        parts = [(i.filename, i.compress_type, z.read(i)) for i in z.infolist()]
    with zipfile.ZipFile(path, "w") as z:
        for name, how, data in parts:
            if name.endswith(".opf"):
                data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2026-03-01T09:30:00Z", data)
            if name.endswith(".xml"):
                data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2026-03-01T09:30:00Z", data)
            if name.endswith(".xlsx"):
                continue  # the workbook behind a chart
            z.writestr(zipfile.ZipInfo(name), data, how, 9)


def word():
    d = docx.Document()
    d.core_properties.title, d.core_properties.author = "Pump handbook", "Ada Example"
    d.core_properties.created = d.core_properties.modified = WHEN
    d.add_paragraph("Pump handbook", "Title")
    d.add_heading("Before use", 1)
    p = d.add_paragraph("Read ")
    p.add_run("all of this").bold = True
    p.add_run(" first.\tThen begin.")
    for text in ("Check the seal", "Check the oil"):
        d.add_paragraph(text, "List Bullet")
    d.add_paragraph("Mineral oil only", "List Bullet 2")
    d.add_heading("Steps", 2)
    for text in ("Open the valve.", "Press start.", "Wait for 30 s."):
        d.add_paragraph(text, "List Number")
    p = d.add_paragraph("# is no heading here")
    p.add_run().add_break()
    p.add_run("- and this no item")
    d.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    d.add_heading("Limits", 1)
    t = d.add_table(rows=4, cols=3)
    for r, row in enumerate((("Model", "Pressure", "Note"), ("P1", "3 bar", "a | b"), ("P1", "4 bar", ""), ("P2", "all", ""))):
        for c, text in enumerate(row):
            t.cell(r, c).text = text
    t.cell(2, 0).text = ""
    t.cell(1, 0).merge(t.cell(2, 0))
    t.cell(3, 1).merge(t.cell(3, 2))
    t.cell(1, 1).add_table(1, 2).rows[0].cells[0].text = "inner"
    d.add_paragraph("The end.", "Intense Quote")
    d.save("handbook.docx")


def slides():
    p = pptx.Presentation()
    p.core_properties.title, p.core_properties.author = "PowerPoint Presentation", "Ada Example"
    s = p.slides.add_slide(p.slide_layouts[0])
    s.shapes.title.text, s.placeholders[1].text = "Results of the year", "Board, March 2026"
    s = p.slides.add_slide(p.slide_layouts[1])
    s.shapes.title.text = "What changed"
    body = s.placeholders[1].text_frame
    body.text = "Sales rose"
    for text, level in (("North by 12 %", 1), ("South by 3 %", 1), ("Costs fell", 0)):
        para = body.add_paragraph()
        para.text, para.level = text, level
    s.notes_slide.notes_text_frame.text = "Ask for questions.\nThen go on."
    s = p.slides.add_slide(p.slide_layouts[5])
    s.shapes.title.text = "Numbers"
    t = s.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for r, row in enumerate((("Region", "Sales"), ("North", "112"), ("South", "103"))):
        for c, text in enumerate(row):
            t.cell(r, c).text = text
    s = p.slides.add_slide(p.slide_layouts[6])
    s.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.text = "A slide without a title"
    data = CategoryChartData()
    data.categories = ["2024", "2025"]
    data.add_series("North", (100, 112))
    data.add_series("South", (100, 103.5))
    s.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(5), Inches(3), data)
    s = p.slides.add_slide(p.slide_layouts[5])
    s.shapes.title.text = "Spare"
    s._element.set("show", "0")
    p.save("results.pptx")


def workbook():
    w = openpyxl.Workbook()
    w.properties.creator = "Ada Example"
    s = w.active
    s.title = "Orders"
    s["B2"] = "Orders of the first quarter"
    s.merge_cells("B2:E2")
    s.append([])
    s.append([None, "Date", "Customer", "Share", "Amount", "Paid"])
    for i, (name, share, amount, paid) in enumerate((("Acme | Sons", 0.125, 1234.5, True), ("Bolt", 0.5, -20, False), ("Cog\nGmbH", 0.0075, 1e6, True))):
        s.append([None, datetime.date(2026, 1, 5 + i), name, share, amount, paid])
        r = s.max_row
        s.cell(r, 2).number_format, s.cell(r, 4).number_format, s.cell(r, 5).number_format = "dd.mm.yyyy", "0.0%", "#,##0.00 [$€-407]"
    s.append([None, "Sum", None, None, "=SUM(E5:E7)"])
    for c in s[4]:
        c.font = Font(bold=True)
    s["B12"], s["C12"] = "Key", "Value"
    s["B13"], s["C13"] = "Started", datetime.datetime(2026, 1, 5, 14, 30)
    s["B14"], s["C14"] = "Took", datetime.timedelta(hours=30, minutes=5)
    hidden = w.create_sheet("Rates")
    hidden.sheet_state = "hidden"
    for row in (("EUR", 1), ("USD", 1.0853), ("JPY", 162.333333333333)):
        hidden.append(row)
    w.create_sheet("Empty")
    w.save("orders.xlsx")


def book():
    b = epub.EpubBook()
    b.set_identifier("urn:uuid:00000000-0000-4000-8000-000000000000")
    b.set_title("The Lighthouse")
    b.set_language("en-GB")
    b.add_author("Ada Example")
    b.add_author("Ben Example")
    chapters = []
    for i, (title, text) in enumerate((
        ("Arrival", "<h1>Arrival</h1><p>The boat came at <i>noon</i>.</p><ul><li>rope</li><li>lamp oil</li></ul>"),
        ("Storm", "<p>No heading here, but a name in the contents.</p><table><tr><th>Day</th><th>Wind</th></tr><tr><td>1</td><td>9</td></tr></table>"),
    )):
        c = epub.EpubHtml(title=title, file_name=f"text/chapter {i + 1}.xhtml", lang="en")
        c.content = f"<html><body>{text}</body></html>"
        b.add_item(c)
        chapters.append(c)
    b.toc = chapters
    b.add_item(epub.EpubNcx())
    b.add_item(epub.EpubNav())
    b.spine = ["nav", *reversed(chapters)]
    epub.write_epub("lighthouse.epub", b)


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    word()
    slides()
    workbook()
    book()
    for name in ("handbook.docx", "results.pptx", "orders.xlsx", "lighthouse.epub"):
        settled(name)
